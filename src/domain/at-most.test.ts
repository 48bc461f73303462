import { expect, test } from "bun:test";
import { atMost } from "./at-most.ts";

test("so many work at once, and the answers come in the order of the list", async () => {
  let [working, most] = [0, 0];
  const done = await atMost(3, [5, 1, 4, 2, 3, 0], async (n) => {
    most = Math.max(most, ++working);
    for (let i = 0; i < n; i++) await Promise.resolve();
    working--;
    return n * 10;
  });
  expect(done).toEqual([50, 10, 40, 20, 30, 0]);
  expect(most).toBe(3);
  expect(await atMost(3, [], async () => 1)).toEqual([]);
});

test("the first failure is the caller's", async () => {
  const failing = atMost(2, [1, 2, 3], async (n) => {
    if (n === 2) throw new Error("two");
    return n;
  });
  await expect(failing).rejects.toThrow("two");
});
