import { expect, test } from "bun:test";
import { untilAsked } from "./waiting.ts";

test("Ctrl-C while the engine is asked counts once it has answered", async () => {
  const interrupted = untilAsked(async () => {
    process.emit("SIGINT");
    return "its answer";
  });
  expect(await interrupted).toEqual({ asked: "its answer", isLeft: true });
  expect(await untilAsked(async () => "its answer")).toEqual({ asked: "its answer", isLeft: false });
  expect(process.listenerCount("SIGINT")).toBe(0);
});
