import { expect, test } from "bun:test";
import { Slots } from "./slots.ts";

test("no two users share a place, everybody gets one, and a failure gives it back", async () => {
  const slots = new Slots(2);
  const inUse = new Set<number>();
  let most = 0;
  const one = (index: number): Promise<number> =>
    slots.use(async (slot) => {
      expect(inUse.has(slot)).toBe(false);
      inUse.add(slot);
      most = Math.max(most, inUse.size);
      await Promise.resolve();
      inUse.delete(slot);
      if (index % 3 === 0) throw new Error("gate failed");
      return slot;
    });
  const ended = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => one(index)));
  expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(13);
  expect(most).toBe(2);
});
