import { expect, test } from "bun:test";
import { type CoordinatedWorld, coordinatedWorld, look } from "../../../testkit/coordinated-world.ts";
import { type MergeWorld, mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { agentCaller } from "../../../testkit/use-case.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import { endAgent } from "../agents/end-agent.ts";
import { releaseAgentCommand } from "../agents/release-agent.ts";
import { checkMail, confirmDelivered } from "../mail/check.ts";
import { fromEngine, post } from "../mail/post.ts";
import { purgeMail } from "../mail/purge.ts";
import { sendMail } from "../mail/send.ts";
import { cancelMerge } from "../merge/queue/decide-entry.ts";
import { landed, rejected } from "../merge/queue/settle-entry.ts";
import type { UseCase } from "../usecase.ts";
import { keepGoing, wakeSleepers } from "./keep-going.ts";

const phaseNews = "[ENGINE] all 1 builder of run run-2 completed";
const withCommits = { capability: "builder", branch: "overstory/b1/T1", headCommit: "h1", ahead: 1 } as const;

/** Reads the whole inbox as an agent does with `ov mail check`. */
async function readMail(world: CoordinatedWorld, name: string, turnId: string | null = null): Promise<void> {
  const capability = name === "chief" ? "coordinator" : "lead";
  const caller = { ...agentCaller(name, capability, { runId: world.runId }), turnId };
  const { by, letters } = await world.must(checkMail, {}, caller);
  await world.must(confirmDelivered, { by, messages: letters.map(({ message }) => message.seq) }, caller);
}

test("A3: a coordinator that read the last report in its turn is told when the turn that was queued for it is dropped", async () => {
  await using world = await coordinatedWorld();
  await world.seatBelow("b1", withCommits);
  const turn = await world.beginTurn("chief");
  await world.tell("done", true, { from: "b1", fromAgentId: "agent-b1", type: "worker_done" });
  await world.end("b1");
  await readMail(world, "chief", turn.id);
  await world.settle(turn);
  expect(await world.queuedTurns()).toEqual(["chief"]);
  expect(await world.dispatch()).toEqual({});
  expect(await world.dispatch()).toEqual({ chief: [phaseNews] });
});

test("two leads that report in one moment wake nobody by their reports; once both have ended, their coordinator is told", async () => {
  await using world = await coordinatedWorld();
  for (const lead of ["lead-1", "lead-2"]) {
    await world.seatBelow(lead, { capability: "lead" });
    await world.seatBelow(`builder-of-${lead}`, { parentName: lead, state: "completed", outcome: "done" });
    await world.tell(`done by ${lead}`, false, { from: lead, fromAgentId: `agent-${lead}`, type: "worker_done" });
  }
  await world.end("lead-1");
  expect(await world.dispatch()).toEqual({});
  await world.end("lead-2");
  const { chief } = await world.dispatch();
  expect(chief?.length).toBeGreaterThan(0);
});

const asked = async (world: CoordinatedWorld): Promise<unknown> => {
  await world.seatBelow("lead-1", { capability: "lead" });
  const chief = agentCaller("chief", "coordinator", { runId: world.runId });
  return world.must(sendMail, { to: "lead-1", type: "question", subject: "?", body: "how far are you?" }, chief);
};

const waitsOf = async (world: CoordinatedWorld, name: string): Promise<readonly string[]> =>
  (await world.store.read((tx) => tx.waits.of(name))).map(({ kind }) => kind);

test("A6: a question whose readers are gone silences neither the end of a phase nor the end of the run", async () => {
  await using world = await coordinatedWorld();
  await asked(world);
  await readMail(world, "lead-1");
  await world.seatBelow("b1", { ...withCommits, parentName: "lead-1", state: "completed", outcome: "done" });
  expect(await waitsOf(world, "chief")).toEqual(["reply"]);
  await world.end("lead-1");
  expect(await waitsOf(world, "chief")).toEqual([]);
  expect(await world.dispatch()).toEqual({ chief: [phaseNews] });
});

test("A6: the end of the run is told, too", async () => {
  await using world = await coordinatedWorld();
  await asked(world);
  await readMail(world, "lead-1");
  await world.end("lead-1");
  await world.must(releaseAgentCommand, { name: "lead-1" });
  expect(await world.dispatch()).toEqual({ chief: ["[ENGINE] nobody works for run run-2 any more"] });
});

test("A6: a question keeps its wait while an agent that lives, or the operator, can answer it", async () => {
  await using world = await coordinatedWorld();
  await asked(world);
  const chief = agentCaller("chief", "coordinator", { runId: world.runId });
  await world.must(sendMail, { to: "operator", type: "question", subject: "?", body: "may I?" }, chief);
  await world.seatBelow("b1", withCommits);
  await world.end("b1");
  expect(await waitsOf(world, "chief")).toEqual(["reply", "reply"]);
  // Not read yet: it may bring the lead back.
  await world.end("lead-1");
  expect(await waitsOf(world, "chief")).toEqual(["reply", "reply"]);
});

test("A6: who asked an agent that has ended, and waits for nothing else, gets a turn", async () => {
  await using world = await coordinatedWorld();
  const lead = await world.seatBelow("lead-1", { capability: "lead" });
  await world.seatBelow("scout-1", { capability: "scout", parentName: "lead-1" });
  await world.must(sendMail, { to: "scout-1", type: "question", subject: "?", body: "which file?" }, lead);
  await readMail(world, "scout-1");
  await world.end("scout-1");
  expect(await waitsOf(world, "lead-1")).toEqual([]);
  expect(Object.keys(await world.dispatch())).toContain("lead-1");
});

test("L5: a turn for an agent whose question no agent can answer any more says so", async () => {
  await using world = await coordinatedWorld();
  const builder = await world.seatBelow("b1", { parentName: "lead-1" });
  await world.seatBelow("scout-1", { capability: "scout" });
  const question = { to: "scout-1", type: "question", subject: "which?", body: "which file?" };
  const { id } = await world.must(sendMail, question, builder);
  await readMail(world, "scout-1");
  await world.end("scout-1");
  const b1 = await world.store.read((tx) => tx.agents.byName("b1"));
  expect(await world.store.read((tx) => tx.turns.queuedFor(b1?.id ?? ""))).toMatchObject({
    trigger: "nudge",
    reason: `no agent is left that can answer the question "which?" (${id})`,
  });
});

test("A6: a question that was purged is waited for by nobody", async () => {
  await using world = await coordinatedWorld();
  await asked(world);
  await world.must(purgeMail, { all: true });
  expect(await waitsOf(world, "chief")).toEqual([]);
});

test("A7: an agent of the operator in the same run makes no notice about the coordinator's team stale", async () => {
  await using world = await coordinatedWorld();
  await world.seatBelow("b1", withCommits);
  await world.seatBelow("own", { capability: "builder", parentName: "operator", state: "in_turn" });
  await world.end("b1");
  expect(await world.dispatch()).toEqual({ chief: [phaseNews] });
});

test("A7: a notice that was withdrawn as stale is told again when it is true again, and not before", async () => {
  await using world = await coordinatedWorld();
  await world.seatBelow("b1", withCommits);
  await world.end("b1");
  await world.seatBelow("lead-1", { capability: "lead" });
  expect(await world.dispatch()).toEqual({});
  expect(await world.queuedTurns()).toEqual([]);
  await world.end("lead-1");
  expect(await world.dispatch()).toEqual({ chief: [phaseNews] });
});

test("A7: the end of the run, too, is told again after the operator's agent has gone", async () => {
  await using world = await coordinatedWorld();
  await world.seatBelow("b1", { capability: "scout" });
  await world.end("b1");
  await world.must(releaseAgentCommand, { name: "b1" });
  await world.seatBelow("own", { capability: "scout", parentName: "operator" });
  // Its own scout has ended, which is true; that nobody works for the run is not.
  expect(await world.dispatch()).toEqual({ chief: ["[ENGINE] all 1 scout of run run-2 completed"] });
  const turn = await world.store.read((tx) => tx.turns.runningFor("agent-chief"));
  await world.settle({ id: turn?.id ?? "" });
  await world.end("own");
  await world.must(releaseAgentCommand, { name: "own" });
  const [mail] = Object.values(await world.dispatch());
  expect(mail).toContain("[ENGINE] nobody works for run run-2 any more");
});

test("C1: nobody is told about a phase of a run that is complete, and the operator none while agents work on", async () => {
  await using world = await coordinatedWorld();
  const toOperator = async () => (await world.store.read((tx) => tx.messages.list({ to: "operator" }))).length;
  await world.seatBelow("lead-1", { capability: "lead" });
  await world.seatBelow("b1", withCommits);
  await world.end("chief");
  await world.end("b1");
  expect(await toOperator()).toBe(0);
  await world.end("lead-1");
  expect(await toOperator()).toBe(1);
  await world.store.transaction((tx) => tx.runs.complete(world.runId, "completed", world.clock.now));
  await world.seatBelow("b2", { capability: "builder" });
  await world.end("b2");
  expect(await toOperator()).toBe(1);
});

test("C1: who stops a coordinator gets no notice for it, and who asked that coordinator waits no longer", async () => {
  await using world = await coordinatedWorld();
  const toOperator = async () => (await world.store.read((tx) => tx.messages.list({ to: "operator" }))).length;
  await world.seatBelow("b1", { ...withCommits, state: "completed", outcome: "done" });
  const own = await world.seat("own", { capability: "lead", runId: world.runId, parentName: "operator" });
  await world.must(sendMail, { to: "chief", type: "question", subject: "?", body: "which one?" }, own);
  await readMail(world, "chief");
  expect(await waitsOf(world, "own")).toEqual(["reply"]);
  await world.end("chief", "stopped");
  expect(await toOperator()).toBe(0);
  expect(await waitsOf(world, "own")).toEqual([]);
  expect(Object.keys(await world.dispatch())).toEqual(["own"]);
  world.clock.now += 1000;
  await world.seatBelow("b2", { ...withCommits, branch: "overstory/b2/T2" });
  await world.end("b2");
  expect(await toOperator()).toBe(1);
});

const landing = (world: MergeWorld, entry: MergeEntry): Promise<unknown> =>
  world.asEngine((tx, context) => {
    const facts = { tier: "clean-merge", strategy: null, verdict: "verified", commit: "c".repeat(40) } as const;
    return landed(tx, context, { opId: "op-1", entries: [{ entry, ...facts }] });
  });

const ways: Readonly<Record<string, (world: MergeWorld, entry: MergeEntry) => Promise<unknown>>> = {
  landed: landing,
  cancelled: (world, { id }) => world.must(cancelMerge, { of: String(id) }),
  "sent back": (world, entry) =>
    world.asEngine((tx, context) => {
      const settings = { ...context.settings, agents: { ...context.settings.agents, maxRevivals: 0 } };
      const why = { status: "failed", cause: "gate_failed", detail: { message: "red" } } as const;
      return rejected(tx, { ...context, settings }, entry, why);
    }),
};

/** The lead has ended while its builder's branch is landing, and another branch is not handed over yet. */
async function endedLead(): Promise<MergeWorld & { readonly entry: MergeEntry }> {
  const world = await mergeWorld();
  await world.asEngine(async (tx) => {
    for (const each of await tx.tasks.dependencies()) await tx.tasks.removeDependency(each);
  });
  const work = { branch: "overstory/b9/T9", taskId: "T9", headCommit: "h9", ahead: 1 };
  await world.seat("b9", { ...work, parentName: "coordinator", runId: "run-2", state: "completed", outcome: "done" });
  const entry = await world.announce();
  const lead = await world.agent("lead-1");
  await world.asEngine((tx, context) => {
    const end = { state: "completed", outcome: "done", actor: "supervisor", reason: "test" } as const;
    return endAgent(tx, context, lead, { ...end, death: null, turnId: null });
  });
  return { ...world, entry };
}

for (const [how, end] of Object.entries(ways)) {
  test(`A4: the coordinator is told that nobody works once the last branch is ${how}`, async () => {
    await using world = await endedLead();
    expect(await world.queuedTurns()).toEqual([]);
    await end(world, world.entry);
    expect(await world.queuedTurns()).toEqual(["coordinator"]);
  });
}

/** A second builder of the lead that asked its lead something and waits for the answer. */
async function withQuestion(state: "between_turns" | "in_turn"): Promise<MergeWorld> {
  const world = await mergeWorld();
  await world.asEngine(async (tx) => {
    for (const each of await tx.tasks.dependencies()) await tx.tasks.removeDependency(each);
  });
  const b2 = await world.seat("b2", { parentName: "lead-1", runId: "run-2", taskId: "T9", state });
  await world.must(sendMail, { to: "lead-1", type: "question", subject: "?", body: "a or b?" }, b2);
  await world.asEngine(async (tx, { now }) => {
    await tx.waits.add({ agentName: "lead-1", kind: "child", ref: "b2", since: now, deadline: null });
    await tx.turns.cancelQueued("agent-lead-1", now);
    for (const { delivery } of await tx.deliveries.inState("lead-1", ["queued"])) {
      await tx.deliveries.update({ ...delivery, state: "acked", ackedAt: now });
    }
  });
  return world;
}

test("B1: a lead that will answer its builder when the other branch has landed is woken by the landing", async () => {
  await using world = await withQuestion("between_turns");
  await landing(world, await world.announce());
  expect(await world.queuedTurns()).toEqual(["lead-1"]);
});

test("B1: a landing is quiet for a lead while its other builder is at work", async () => {
  await using world = await withQuestion("in_turn");
  await landing(world, await world.announce());
  expect(await world.queuedTurns()).toEqual([]);
});

test("B1: a lead and a builder that wait only for each other are found, and the lead is told once who waits", async () => {
  await using world = await withQuestion("in_turn");
  await world.must(look, {});
  expect(await world.queuedTurns()).toEqual([]);
  await world.asEngine(async (tx) => {
    const b2 = await tx.agents.byName("b2");
    if (b2 !== undefined)
      await tx.agents.move(b2, { ...b2, state: "between_turns" }, { to: "between_turns", actor: "t", reason: "t" }, 1);
  });
  await world.must(look, {});
  await world.must(look, {});
  expect(await world.queuedTurns()).toEqual(["lead-1"]);
  const told = (await world.mailOf("lead-1", "status")).map(({ subject }) => subject);
  expect(told).toEqual(["[ENGINE] b2 waits for your answer"]);
});

test("the report of a lead is held while its branches land, and due when the last of them has ended, in any way", async () => {
  for (const end of Object.values(ways)) {
    await using world = await mergeWorld();
    const entry = await world.announce();
    const held = { name: "coordinator", wake: true, notBefore: world.clock.now + 600_000 };
    await world.asEngine((tx, context) => {
      const from = { from: "lead-1", fromAgentId: "agent-lead-1", runId: "run-2", verified: true } as const;
      const to = { address: "coordinator", recipients: [held] };
      const words = { subject: "done", body: "done", type: "worker_done", priority: "normal" } as const;
      return post(tx, context, { ...from, ...to, ...words });
    });
    const due = async () => {
      const turn = await world.store.read((tx) => tx.turns.queuedFor("agent-coordinator"));
      return turn === undefined ? undefined : turn.notBefore <= world.clock.now;
    };
    expect(await due()).toBe(false);
    await end(world, entry);
    expect(await due()).toBe(true);
  }
});

test("a lead whose builder ends after its branch has landed gets a turn, although that news waits for the builder", async () => {
  await using world = await mergeWorld();
  const { store } = world;
  await world.seat("b2", { runId: "run-2", parentName: "lead-1", taskId: "T2", state: "in_turn" });
  const [lead, builder] = [await world.agent("lead-1"), await world.agent("b2")];
  const news = {
    type: "merged",
    priority: "normal",
    runId: "run-2",
    subject: "merged",
    body: "It has landed.",
  } as const;
  const end = {
    state: "completed",
    outcome: "done",
    actor: "engine",
    reason: "done",
    death: null,
    turnId: null,
  } as const;
  await world.asEngine(async (tx, context) => {
    await tx.waits.add({ agentName: "lead-1", kind: "child", ref: "b2", since: 1, deadline: null });
    await post(tx, context, { ...fromEngine, ...news, address: "b2", recipients: [{ name: "b2", wake: true }] });
    await endAgent(tx, context, builder, end);
  });
  expect(await store.read((tx) => tx.turns.queuedFor(lead.id))).toMatchObject({
    trigger: "nudge",
    reason: "b2 has ended, and nothing else that was waited for is left",
  });
});

test("an engine that starts wakes whom an earlier version left asleep", async () => {
  await using world = await coordinatedWorld();
  await world.seatBelow("b1", { ...withCommits, state: "completed", outcome: "done" });
  await world.seatBelow("lead-1", { capability: "lead" });
  await world.must(sendMail, { to: "lead-1", type: "dispatch", subject: "more", body: "more" });
  await world.store.transaction((tx) => tx.turns.cancelQueued("agent-lead-1", world.clock.now));
  const starting: UseCase<object, boolean> = {
    kind: "write",
    request: noFields,
    run: async (tx, context) => ok(await wakeSleepers(tx, context)),
  };
  expect(await world.must(starting, {})).toBe(true);
  expect(await world.dispatch()).toEqual({ "lead-1": ["more"] });
});

/** The operations of a store that one look of `keepGoing` uses, by name. */
async function asksOf(world: CoordinatedWorld): Promise<Readonly<Record<string, number>>> {
  const asks: Record<string, number> = {};
  const counting = <T extends object>(rows: T, of: string): T =>
    new Proxy(rows, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member === "object" && member !== null) return counting(member, String(name));
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          const key = `${of}.${String(name)}`;
          asks[key] = (asks[key] ?? 0) + 1;
          return Reflect.apply(member, target, given);
        };
      },
    });
  const look: UseCase<object, null> = {
    kind: "write",
    request: noFields,
    run: async (tx, context) => {
      await keepGoing(counting(tx, "tx"), context, world.runId);
      return ok(null);
    },
  };
  await world.must(look, {});
  return asks;
}

test("a look costs no more when many agents have asked, ended and left their questions open", async () => {
  await using world = await coordinatedWorld();
  await world.seatBelow("b0");
  const before = await asksOf(world);
  for (let n = 1; n <= 10; n++) {
    const asker = await world.seatBelow(`b${n}`);
    await world.must(sendMail, { to: "operator", type: "question", subject: "?", body: `may I? ${n}` }, asker);
    await world.end(`b${n}`, "stopped");
  }
  expect(await asksOf(world)).toEqual(before);
  await world.must(releaseAgentCommand, { name: "b1" });
  expect([await waitsOf(world, "b1"), await waitsOf(world, "b2")]).toEqual([[], ["reply"]]);
  // Somebody works: no message is read to find out that no phase is over.
  expect(Object.keys(before).filter((name) => name.startsWith("messages"))).toEqual([]);
});
