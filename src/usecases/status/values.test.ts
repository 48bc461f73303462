import { expect, test } from "bun:test";
import { mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { sendMail } from "../mail/send.ts";
import { type ValueSource, values } from "./values.ts";

test("a shell is offered what waits for a decision, and no other message", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  await world.must(sendMail, { to: "lead-1", subject: "hello", body: "just so" });
  const offered = (source: ValueSource) => world.must(values, { source, prefix: "" });
  expect((await offered("decisions")).values).toEqual([`merge:${id}`]);
  expect((await offered("messages")).values.length).toBeGreaterThan(1);
});

test("a shell is offered live agents where an ended one is of no use", async () => {
  await using world = await mergeWorld();
  const offered = (source: ValueSource) => world.must(values, { source, prefix: "" });
  expect((await offered("agents")).values).toContain("b1");
  // It has submitted.
  expect((await offered("liveAgents")).values).not.toContain("b1");
  expect((await offered("liveAgents")).values).toContain("lead-1");
});
