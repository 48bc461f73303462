import { expect, test } from "bun:test";
import fc from "fast-check";
import { aDelivery, aMessage, anAgent, aTurn, noon, seed } from "../../../testkit/contracts/store/rows.ts";
import { useCaseWorld } from "../../../testkit/use-case.ts";
import { type Agent, agentStates, hasEnded } from "../../domain/agent/agent.ts";
import { waitKinds } from "../../domain/agent/wait.ts";
import { turnTriggers } from "../../domain/turn/turn.ts";
import { Rollback, type Tx } from "../../ports/store.ts";
import { goodStanding, standingOf } from "../operator/troubled-agents.ts";
import { readFleet } from "./fleet-reading.ts";
import { hasTurnsAhead } from "./turns-ahead.ts";

const names = ["a0", "a1", "a2", "a3", "a4", "a5"] as const;
const aName = fc.constantFrom(...names);

const member = fc.record({
  // Most agents of a fleet wait for something.
  state: fc.oneof({ weight: 3, arbitrary: fc.constant("between_turns" as const) }, fc.constantFrom(...agentStates)),
  parentName: fc.constantFrom("operator", ...names),
  turn: fc.constantFrom("none", "running", "failed", ...turnTriggers),
  waits: fc.array(fc.record({ kind: fc.constantFrom(...waitKinds), ref: aName }), { maxLength: 2 }),
  question: fc.option(fc.record({ to: fc.constantFrom("operator", ...names), wake: fc.boolean() }), { nil: undefined }),
});
type Member = typeof member extends fc.Arbitrary<infer Value> ? Value : never;

test("a reading of the whole fleet says of every agent what its own questions say", async () => {
  await using world = useCaseWorld();
  const { store } = world;
  await seed(store);
  const fleets = fc.array(member, { minLength: names.length, maxLength: names.length });
  await fc.assert(
    fc.asyncProperty(fleets, async (fleet) => {
      const compared = store.transaction(async (tx) => {
        const agents: Agent[] = [];
        for (const [at, one] of fleet.entries()) agents.push(await put(tx, names[at] ?? "a0", one));
        const reading = await readFleet(tx);
        for (const agent of agents.filter((one) => one.releasedAt === null)) {
          const turns = await tx.turns.listFor(agent.id);
          const standing = await standingOf(tx, agent, turns);
          expect(await standingOf(reading.tx, agent, turns)).toEqual(standing);
          expect(await hasTurnsAhead(reading.tx, agent.name)).toBe(await hasTurnsAhead(tx, agent.name));
          if (reading.isPlainlyWell(agent))
            expect({ name: agent.name, ...standing }).toEqual({ name: agent.name, ...goodStanding });
        }
        throw new Rollback("the next fleet starts from nothing");
      });
      await compared.catch((thrown: unknown) => {
        if (!(thrown instanceof Rollback)) throw thrown;
      });
    }),
    { numRuns: 300 },
  );
});

test("agents that wait for each other only are not well, and one that works lets all above it go on", async () => {
  await using world = useCaseWorld();
  const { store } = world;
  await seed(
    store,
    anAgent("coordinator", { capability: "coordinator" }),
    anAgent("lead", { parentName: "coordinator" }),
    anAgent("builder", { parentName: "lead" }),
    anAgent("one"),
    anAgent("other"),
  );
  await store.transaction(async (tx) => {
    for (const [agentName, ref] of [
      ["coordinator", "lead"],
      ["lead", "builder"],
      ["one", "other"],
      ["other", "one"],
    ] as const) {
      await tx.waits.add({ agentName, kind: "child", ref, since: noon, deadline: null });
    }
    await tx.turns.queue(aTurn("t1", anAgent("builder"), { trigger: "retry" }));
    const { unreleased, isPlainlyWell } = await readFleet(tx);
    const well = unreleased.filter(isPlainlyWell).map(({ name }) => name);
    expect(well.toSorted()).toEqual(["builder", "coordinator", "lead"]);
  });
});

const broken = {
  status: "failed",
  error: "it broke",
  failure: null,
  advice: null,
  clean: false,
  resultText: null,
  exitCode: 1,
  exitSignal: null,
  terminalMessageSeq: null,
  endedAt: noon,
} as const;

async function put(tx: Tx, name: string, { state, parentName, turn, waits, question }: Member): Promise<Agent> {
  const isOver = hasEnded({ state });
  const agent = anAgent(name, {
    state,
    parentName: parentName === name ? "operator" : parentName,
    ...(isOver ? { outcome: "crashed", endedAt: noon } : {}),
  });
  await tx.agents.reserve(agent);
  if (turn !== "none") {
    const id = `turn-${name}`;
    await tx.turns.queue(aTurn(id, agent, turn === "running" || turn === "failed" ? {} : { trigger: turn }));
    if (turn === "running" || turn === "failed")
      await tx.turns.start(id, { fence: 1, logDir: "/log", resumeRequested: null, now: noon });
    if (turn === "failed") await tx.turns.end(id, 1, broken);
  }
  for (const { kind, ref } of waits) {
    const isMerge = kind === "merge" || kind === "approval";
    await tx.waits.add({ agentName: name, kind, ref: isMerge ? `merge-1-${ref}` : ref, since: noon, deadline: null });
  }
  if (question !== undefined) {
    const id = `question-${name}`;
    const seq = await tx.messages.insert(aMessage(id, { fromAgent: name, type: "question", expectsReply: true }));
    await tx.deliveries.insert([aDelivery(seq, question.to, { wake: question.wake })]);
    await tx.waits.add({ agentName: name, kind: "reply", ref: id, since: noon, deadline: null });
  }
  return agent;
}
