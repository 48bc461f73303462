import { expect, test } from "bun:test";
import { holdingWaits, isParking, waitKinds } from "./wait.ts";

test("an agent is parked by a rate limit, a budget or a person, and by nothing else", () => {
  expect(waitKinds.filter(isParking)).toEqual(["rate_limit", "budget", "operator"]);
});

test("whatever holds an agent parks it", () => {
  expect(holdingWaits.every(isParking)).toBe(true);
});
