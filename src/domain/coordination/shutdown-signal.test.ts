import { expect, test } from "bun:test";
import { asksForShutdown } from "./shutdown-signal.ts";

test("a shutdown is asked for by its type or in the subject", () => {
  expect(asksForShutdown({ type: "shutdown", subject: "good night" })).toBe(true);
  expect(asksForShutdown({ type: "status", subject: "Please SHUTDOWN now" })).toBe(true);
  expect(asksForShutdown({ type: "dispatch", subject: "Shut down when done" })).toBe(true);
  expect(asksForShutdown({ type: "status", subject: "all is well" })).toBe(false);
  expect(asksForShutdown({ type: "status", subject: "shutdowns are rare" })).toBe(false);
});
