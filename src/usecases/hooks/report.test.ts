import { expect, test } from "bun:test";
import { agentCaller, useCaseWorld } from "../../../testkit/use-case.ts";
import { hookEvents } from "../../domain/hook/hook.ts";
import { recordDenial, recordHookEvent } from "./report.ts";

test("whatever an agent says that a hook saw, its event stays short", async () => {
  await using world = useCaseWorld();
  const agent = agentCaller("ann", "builder");
  const long = "x".repeat(1_000_000);
  const seen = {
    tool: long,
    toolUseId: long,
    toolInput: { command: long },
    summary: long,
    durationMs: 1,
    sessionId: long,
    source: long,
    transcript: long,
  };
  for (const event of hookEvents) await world.must(recordHookEvent, { event, seen }, agent);
  const use = { kind: "execute", command: long, paths: [], changes: true } as const;
  const input = { ...seen, use, cwd: null, continuing: false, subagent: false };
  await world.must(recordDenial, { rule: "secrets", reason: long, of: long, input }, agent);
  const sizes = (await world.events()).map(({ data }) => JSON.stringify(data).length);
  expect(sizes).toHaveLength(hookEvents.length + 1);
  expect(Math.max(...sizes)).toBeLessThan(50_000);
});
