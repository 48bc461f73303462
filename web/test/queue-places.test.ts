import { expect, test } from "bun:test";
import type { Merge } from "../src/api/types.ts";
import { placeBeside } from "../src/merges/place-beside.ts";

const merge = (id: number, priority = 2, waitsFor: readonly number[] = []): Merge =>
  ({ id, priority, waitsFor }) as unknown as Merge;

test("an entry takes the priority by which it lands right before or behind another one; the older of equal ones lands first", () => {
  expect(placeBeside(merge(9), merge(4), false)).toEqual({ words: "Priority 1: #9 lands before #4", priority: 1 });
  expect(placeBeside(merge(4, 3), merge(9), false)).toEqual({ words: "Priority 2: #4 lands before #9", priority: 2 });
  expect(placeBeside(merge(4), merge(9), true)).toEqual({ words: "Priority 3: #9 lands before #4", priority: 3 });
  expect(placeBeside(merge(9, 1), merge(4), true)).toEqual({ words: "Priority 2: #4 lands before #9", priority: 2 });
});

test("an entry that cannot, or need not, be moved there says why", () => {
  expect(placeBeside(merge(9), merge(4, 0), false)).toEqual({
    words: "#4 has the most urgent priority and was queued earlier",
  });
  expect(placeBeside(merge(4), merge(9, 4), true)).toEqual({
    words: "#9 has the least urgent priority and was queued later",
  });
  expect(placeBeside(merge(9), merge(4), true)).toEqual({ words: "#4 already lands before #9" });
  expect(placeBeside(merge(9, 2, [4]), merge(4), false)).toEqual({ words: "#9 waits for #4" });
  expect(placeBeside(merge(4), merge(9, 2, [4]), true)).toEqual({ words: "#9 waits for #4" });
});
