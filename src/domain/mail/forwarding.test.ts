import { expect, test } from "bun:test";
import { forwardNote, isForwarded, withoutForwarding } from "./forwarding.ts";

test("who reads in place of another is told to act only on mail that asks for something", () => {
  const landed = forwardNote("l1", { type: "merged", payload: '{"readyTasks":[]}' });
  expect(landed).toEndWith("[forwarded: l1, to whom it was sent, has ended]");
  expect(forwardNote("l1", { type: "merged", payload: '{"readyTasks":["T2"]}' })).toContain("is for you to do");
  expect(forwardNote("l1", { type: "question", payload: null })).toContain("is for you to do");
  expect(isForwarded(`b1 is in.${landed}`)).toBe(true);
  expect(withoutForwarding(`b1 is in.${landed}`)).toBe("b1 is in.");
});
