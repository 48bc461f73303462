import { expect, test } from "bun:test";
import { cliInMemory } from "../../../../testkit/cli-in-memory.ts";
import { type MailWorld, mailWorld } from "../../../../testkit/mail-world.ts";
import { catalog } from "../../../usecases/catalog.ts";
import type { UseCase } from "../../../usecases/usecase.ts";
import { nudgeCommand, resumeCommand } from "../tree/agent-commands.ts";

/** Both streams as one text, over the real use cases. */
async function ov(world: MailWorld, ...argv: string[]): Promise<{ exit: number; out: string }> {
  const call = async (name: string, request: unknown) =>
    world.call((await catalog[name as keyof typeof catalog]()) as UseCase<unknown, unknown>, request);
  const { exit, out, err } = await cliInMemory([nudgeCommand, resumeCommand], call, argv);
  return { exit, out: out + err };
}

test("a nudge right after another one is not sent: exit 6, with the time from which one is taken", async () => {
  await using world = await mailWorld();
  await world.seat("ann", { worktreePath: "/w" });
  expect(await ov(world, "nudge", "ann", "go")).toMatchObject({ exit: 0 });
  const free = new Date(world.clock.now + 500).toISOString();
  const said = `Not sent: ann was nudged a moment ago; the next nudge is taken at ${free}`;
  const again = await ov(world, "nudge", "ann", "again");
  expect(again.exit).toBe(6);
  expect(again.out).toContain(said);
  const { exit, out } = await ov(world, "nudge", "ann", "again", "--json");
  expect(exit).toBe(6);
  expect(JSON.parse(out)).toMatchObject({ success: false, delivered: false });
});

test("resuming an agent that is not paused says what it waits for and how the wait ends", async () => {
  await using world = await mailWorld();
  await world.seat("ann", { worktreePath: "/w" });
  const retry = {
    id: "t1",
    agentId: "agent-ann",
    agentName: "ann",
    runId: "run-1",
    trigger: "retry",
    reason: "it failed",
  } as const;
  const notBefore = world.clock.now + 60_000;
  await world.store.transaction((tx) => tx.turns.queue({ ...retry, attempt: 2, notBefore, now: world.clock.now }));
  const { exit, out } = await ov(world, "resume", "ann");
  expect(exit).toBe(0);
  const until = new Date(notBefore).toISOString();
  expect(out).toBe(`ann was not changed: it pauses after a failed turn, until ${until}\n  ov nudge ann\n`);
});
