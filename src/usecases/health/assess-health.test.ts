import { expect, test } from "bun:test";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { worldWith } from "../../../testkit/world.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Call } from "../operation.ts";
import { type AgentHealth, assessHealth, followHealth, type HealthReport } from "./assess-health.ts";

test("every agent is judged by the facts of the store, and nothing is written", async () => {
  await using world = await mailWorld();
  const seen = (ms: number) => ({ lastActivityAt: world.clock.now - ms });
  await world.seat("fresh", seen(1000));
  await world.seat("silent", seen(301_000));
  await world.seat("lost", seen(601_000));
  await world.seat("busy", { ...seen(400_000), state: "in_turn" });
  await world.beginTurn("busy");
  await world.seat("asking", seen(900_000));
  await world.seat("ended", { state: "completed", outcome: "done" });
  await world.store.transaction((tx) =>
    tx.waits.add({ agentName: "asking", kind: "reply", ref: "m1", since: 0, deadline: null }),
  );
  const before = await world.store.read((tx) => tx.events.last());
  const { agents } = await world.must(assessHealth, {});
  const told = Object.fromEntries(agents.map(({ agent, assessment }) => [agent.name, assessment.status]));
  expect(told).toEqual({ fresh: "idle", silent: "stalled", lost: "gone", busy: "stalled", asking: "waiting" });
  expect(await world.store.read((tx) => tx.events.last())).toBe(before);
  expect((await world.store.read((tx) => tx.agents.byName("lost")))?.state).toBe("between_turns");
});

test("ended agents are told about when asked for, with how they ended", async () => {
  await using world = await mailWorld();
  await world.seat("ended", { state: "zombie", outcome: "crashed" });
  expect((await world.must(assessHealth, {})).agents).toEqual([]);
  expect((await world.must(assessHealth, { all: true })).agents).toMatchObject([
    { assessment: { status: "ended", note: "crashed" } },
  ]);
});

const health = (name: string, status: string, change: object = {}): AgentHealth => {
  const agent = { name, generation: 1, state: status === "ended" ? "completed" : "between_turns" };
  const assessment = { status, level: 0, action: { kind: "none" }, note: null, ...change };
  return { agent, assessment, quietMs: 0, inTurn: false } as unknown as AgentHealth;
};

/** Follows while the looks last, and answers what was told and how it ended. */
async function follow(...looks: readonly Result<HealthReport, Refusal>[]) {
  const lines: string[] = [];
  const over = new AbortController();
  let at = 0;
  // The only operation that following calls is `health.assess`.
  const call = (async () => looks[at]) as unknown as Call;
  const sleep = async (): Promise<void> => {
    at++;
    if (at === looks.length) over.abort();
  };
  const onItem = ({ agents }: HealthReport): void => {
    for (const { agent, assessment } of agents) lines.push(`${agent.name} ${assessment.status} ${assessment.level}`);
  };
  const world = worldWith({ call, sleep });
  const ended = await followHealth.run(world, { intervalMs: 1000 }, { onItem, signal: over.signal });
  return { lines, ended };
}

const look = (...agents: readonly AgentHealth[]) => ok<HealthReport>({ now: 0, agents });

test("following tells about an agent once, and again when its status, state or level changes", async () => {
  const idle = health("b1", "idle");
  const { lines, ended } = await follow(
    look(idle),
    look(idle),
    look(health("b1", "stalled")),
    look(health("b1", "stalled", { level: 1 })),
    look(idle),
  );
  expect(lines).toEqual(["b1 idle 0", "b1 stalled 0", "b1 stalled 1", "b1 idle 0"]);
  expect(ended).toEqual(ok(null));
});

test("following tells about the end of an agent only if it told about its life", async () => {
  const { lines } = await follow(
    look(health("b1", "idle"), health("b2", "ended")),
    look(health("b1", "ended"), health("b2", "ended")),
  );
  expect(lines).toEqual(["b1 idle 0", "b1 ended 0"]);
});

test("following tells about a full disk, and when there is room again, also where no agent has changed", async () => {
  const disks = [undefined, "full", "full", undefined];
  const told: (string | null)[] = [];
  const over = new AbortController();
  let at = 0;
  const sleep = async (): Promise<void> => {
    at++;
    if (at === disks.length) over.abort();
  };
  const world = worldWith({ call: (async () => look()) as unknown as Call, sleep, fullDisk: () => disks[at] });
  const onItem = ({ fullDisk }: { readonly fullDisk: string | null }): number => told.push(fullDisk);
  await followHealth.run(world, { intervalMs: 1000 }, { onItem, signal: over.signal });
  expect(told).toEqual(["full", null]);
});

test("following ends when looking is refused", async () => {
  const { ended } = await follow(look(), no({ kind: "unknown-token" }), look());
  expect(ended).toEqual(no({ kind: "unknown-token" }));
});
