import { expect, test } from "bun:test";
import { aSpending } from "../../../testkit/contracts/store/spending.ts";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { record } from "../events/record.ts";
import { inspectAgent } from "./inspect.ts";

test("an inspection adds the running turn to what the ledger says of the turns before, also of those long deleted", async () => {
  await using world = await mailWorld();
  const ann = await world.seat("ann");
  const agentId = ann.kind === "agent" ? ann.agentId : "";
  const look = () => world.must(inspectAgent, { name: "ann", limit: 5 });
  expect(await look()).toMatchObject({ turnCount: 0, costMicros: null, tokens: { input: 0, model: null } });

  const of = { agentId, agentName: "ann", cacheRead: 0 } as const;
  const turn = await world.beginTurn("ann");
  await world.store.transaction(async (tx) => {
    await tx.spending.book([aSpending("t1", { ...of, costMicros: 5 })]);
    await tx.spending.book([aSpending("t2", { ...of, costMicros: null })]);
    const about = { turnId: turn.id, agentName: "ann", runId: "run-1", taskId: null, createdAt: 1 };
    const answer = { messageId: "m1", model: "small", input: 7, output: 3, cacheRead: 2, cacheWrite: 1 };
    await tx.usage.record({ ...about, ...answer });
  });
  expect(await look()).toMatchObject({
    turnCount: 3,
    costMicros: 5,
    tokens: { input: 207, output: 23, cacheRead: 2, cacheWrite: 3, model: "small" },
  });
});

test("a file counts once, whether its whole path or its path in the worktree was named", async () => {
  await using world = await mailWorld();
  const ann = await world.seat("ann");
  const agentId = ann.kind === "agent" ? ann.agentId : "";
  const turn = await world.beginTurn("ann");
  await world.store.transaction(async (tx) => {
    for (const [at, summary] of ["/w/ann/src/a.ts", "src/a.ts", "./src/a.ts", "/etc/hosts"].entries()) {
      const data = { id: `t${at}`, tool: "Write", summary };
      const about = { source: "supervisor", agentId, agentName: "ann", turnId: turn.id } as const;
      await record(tx, at + 1, { ...about, type: "tool_start", data });
      await record(tx, at + 1, { ...about, type: "tool_end", data: { ...data, durationMs: 1 } });
    }
  });
  expect((await world.must(inspectAgent, { name: "ann", limit: 5 })).files).toEqual(["src/a.ts", "/etc/hosts"]);
});
