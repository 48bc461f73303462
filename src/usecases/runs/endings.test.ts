import { expect, test } from "bun:test";
import fc from "fast-check";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { nothingChanged } from "../../../testkit/done-request.ts";
import { builderBranch, type MergeWorld, mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { settledTurn } from "../../../testkit/settled-turn.ts";
import { hasEnded } from "../../domain/agent/agent.ts";
import { stopEnd } from "../../domain/agent/transition.ts";
import { type Caller, operator } from "../../domain/caller/caller.ts";
import type { WorkSeen } from "../../domain/completion/rules.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { Rollback, type Tx } from "../../ports/store.ts";
import { endAgent } from "../agents/end-agent.ts";
import { releaseAgentCommand } from "../agents/release-agent.ts";
import { requestStop } from "../agents/stop.ts";
import { acceptCompletion } from "../completions/accept.ts";
import { checkStatus, requestDone } from "../completions/checks.ts";
import { checkMail } from "../mail/check.ts";
import { sendMail } from "../mail/send.ts";
import { cancelMerge } from "../merge/queue/decide-entry.ts";
import { decide } from "../operator/decide.ts";
import { openDecisions } from "../operator/decisions.ts";
import { recordDrop } from "../tasks/drop-task.ts";
import type { Context, UseCase } from "../usecase.ts";
import { changeRun } from "./change-objective.ts";
import { endRun } from "./change-run.ts";
import { addCriteriaToRun, waiveCriterionOfRun } from "./criteria.ts";
import { openEndsOf } from "./open-ends.ts";

/**
 * A lead with three builders: b1 has submitted a branch, b2 is between turns, b3 is in a turn. Task T2 waits for T1, and
 * U is nobody's. Three criteria. The run needs a last review, which may be refused a seat.
 */
async function team(seats: number): Promise<MergeWorld> {
  const world = await mergeWorld(
    {},
    {
      run: { objective: "Do it all", checklist: true, targetBranch: "main", landingBranch: "overstory/integration/x" },
      settings: (usual) => ({ ...usual, agents: { ...usual.agents, maxSessionsPerRun: seats } }),
    },
  );
  await world.store.transaction(async (tx) => {
    const held = (id: string, claimedBy: string) => aTask(id, { runId: "run-2", status: "in_progress", claimedBy });
    await tx.tasks.insert(held("L1", "lead-1"));
    await tx.tasks.insert(held("B2", "b2"));
    await tx.tasks.insert({ ...held("B3", "b3"), parentId: "L1" });
    await tx.tasks.insert(aTask("U", { runId: "run-2" }));
  });
  for (const [name, taskId] of [
    ["b2", "B2"],
    ["b3", "B3"],
  ] as const) {
    const branch = `overstory/${name}/${taskId}`;
    await world.seat(name, { parentName: "lead-1", depth: 2, runId: "run-2", taskId, branch, baseCommit: "base" });
  }
  await world.beginTurn("b3");
  await world.must(addCriteriaToRun, { texts: ["one", "two", "three"], runId: "run-2" });
  return world;
}

const agents = ["lead-1", "b1", "b2", "b3", "last-review-1"] as const;
const tasks = ["L1", "T1", "T2", "B2", "B3", "U", "last-review-1"] as const;
/** How many agents the run may have: none more than it has, or as many as are wanted. */
const seats = [5, 0] as const;
const callers = ["operator", "coordinator", "lead"] as const;

type Step =
  | { readonly kind: "finish"; readonly who: string; readonly code: boolean }
  | { readonly kind: "stop"; readonly who: string; readonly tree: boolean; readonly by: string }
  | { readonly kind: "release"; readonly who: string }
  | { readonly kind: "crash"; readonly who: string }
  | { readonly kind: "drop"; readonly task: string; readonly withDependents: boolean; readonly by: string }
  | { readonly kind: "waive"; readonly number: number }
  | { readonly kind: "change"; readonly words: string }
  | { readonly kind: "announce" }
  | { readonly kind: "settle" }
  | { readonly kind: "obey" }
  | { readonly kind: "review"; readonly verdict: string; readonly about: string }
  | { readonly kind: "land" }
  | { readonly kind: "decide"; readonly option: number }
  | { readonly kind: "complete"; readonly by: string };

const who = fc.constantFrom(...agents);
const by = fc.constantFrom(...callers);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("finish" as const), who, code: fc.boolean() }),
  fc.record({ kind: fc.constant("stop" as const), who, tree: fc.boolean(), by }),
  fc.record({ kind: fc.constant("release" as const), who }),
  fc.record({ kind: fc.constant("crash" as const), who }),
  fc.record({
    kind: fc.constant("drop" as const),
    task: fc.constantFrom(...tasks),
    withDependents: fc.boolean(),
    by,
  }),
  fc.record({ kind: fc.constant("waive" as const), number: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant("change" as const), words: fc.constantFrom("also JSON", "no CSV") }),
  fc.record({ kind: fc.constant("announce" as const) }),
  fc.record({ kind: fc.constant("settle" as const) }),
  fc.record({ kind: fc.constant("obey" as const) }),
  fc.record({
    kind: fc.constant("review" as const),
    verdict: fc.constantFrom("pass", "needs_changes"),
    about: fc.constantFrom("", "criterion 2: "),
  }),
  fc.record({ kind: fc.constant("land" as const) }),
  fc.record({ kind: fc.constant("decide" as const), option: fc.integer({ min: 0, max: 1 }) }),
  fc.record({ kind: fc.constant("complete" as const), by }),
);

const callerOf = (world: MergeWorld, name: string): Caller =>
  name === "operator" ? operator : name === "lead" ? world.lead : world.coordinator;

/** Takes the step, or is refused. A refusal is an answer; an exception is not. */
async function take(world: MergeWorld, one: Step): Promise<void> {
  world.clock.now += 1000;
  const call = <Request, Reply>(useCase: UseCase<Request, Reply>, request: Request, as = "operator") =>
    world.call(useCase, request, { caller: callerOf(world, as) });
  switch (one.kind) {
    case "finish":
      return finish(world, one.who, one.code);
    case "stop":
      await call(requestStop, { name: one.who, tree: one.tree }, one.by);
      return;
    case "release":
      await call(releaseAgentCommand, { name: one.who });
      return;
    case "crash":
      return world.asEngine((tx, context) => end(tx, context, one.who));
    case "drop":
      await call(recordDrop, { id: one.task, reason: "not wanted", withDependents: one.withDependents }, one.by);
      return;
    case "waive":
      await call(waiveCriterionOfRun, { number: one.number, reason: "not needed", runId: "run-2" });
      return;
    case "change":
      await call(changeRun, { words: one.words, runId: "run-2" });
      return;
    case "announce": {
      const payload = JSON.stringify({ branch: builderBranch });
      const ready = { to: "coordinator", subject: "ready", type: "merge_ready", payload };
      await call(sendMail, { ...ready, body: `at ${world.clock.now}` }, "lead");
      return;
    }
    case "settle":
      return settle(world);
    case "obey": {
      const ended = await complete(world, "coordinator");
      for (const { fix } of ended.ok ? [] : await shown(world, ended.refusal))
        await type(world, fix, { endsRun: false });
      return;
    }
    case "review":
      return review(world, one.verdict, one.about);
    case "land":
      tips.set(world, `c${world.clock.now}`);
      return;
    case "decide":
      return decideFirst(world, one.option);
    case "complete":
      await complete(world, one.by);
  }
}

/** The tip of the landing branch, which `run.complete` looks up in git. */
const tips = new WeakMap<MergeWorld, string>();
const complete = (world: MergeWorld, by: string) =>
  world.call(endRun, { landed: tips.get(world) ?? "c1" }, { caller: callerOf(world, by) });

/** The newest last reviewer, if one reads, has read what has landed and says what it thinks. */
async function review(world: MergeWorld, verdict: string, about = ""): Promise<void> {
  const live = await world.store.read((tx) => tx.agents.list({ live: true, runId: "run-2" }));
  const reviewer = live.findLast(({ name }) => name.startsWith("last-review-"));
  if (reviewer === undefined || reviewer.stopRequestedBy !== null) return;
  await world.store.transaction((tx) => tx.agents.setBase(reviewer.id, tips.get(world) ?? "c1"));
  const findings = verdict === "pass" ? {} : { findings: `${about}a.ts:3: error: a part is missing` };
  await done(world, reviewer.name, { verdict, ...findings }, null);
}

/** The operator answers the oldest question about the run with one of its options. */
async function decideFirst(world: MergeWorld, option: number): Promise<void> {
  const [asked] = await world.store.read((tx) => openDecisions(tx, { runId: "run-2" }));
  const chosen = asked?.options[option];
  if (asked === undefined || chosen === undefined || asked.kind !== "decision") return;
  await world.call(decide, { id: asked.id, option: chosen });
}

/** The operator says for the agent that it is done, and the engine accepts or refuses that. */
function finish(world: MergeWorld, agent: string, code: boolean): Promise<void> {
  const work = code
    ? { ...nothingChanged, head: `head-${agent}`, ahead: 1, messages: ["work"], files: ["a.ts"] }
    : nothingChanged;
  return done(world, agent, code ? {} : { noCode: true, reason: "nothing to build" }, work);
}

async function done(world: MergeWorld, agent: string, words: object, work: WorkSeen | null): Promise<void> {
  await endTurn(world, agent);
  const asked = await world.call(requestDone, { summary: "finished", agent, ...words });
  if (!asked.ok) return;
  const { id } = asked.value;
  await world.store.transaction((tx) => tx.checks.change(id, ["queued"], { status: "running" }));
  const { check } = await world.must(checkStatus, { id });
  if (check.request.kind !== "completion") throw new Error("that is no completion");
  const proved = { check, request: check.request.done, work, unmerged: [], proved: null };
  try {
    await world.asEngine((tx, context) => acceptCompletion(tx, context, proved));
  } catch (thrown) {
    if (!(thrown instanceof Rollback)) throw thrown;
    await world.store.transaction((tx) => tx.checks.change(id, ["running"], { status: "failed" }));
  }
}

/** Ends the running turn of an agent, if it has one, as its supervisor would when the program has left. */
async function endTurn(world: MergeWorld, name: string): Promise<void> {
  await world.store.transaction(async (tx) => {
    const agent = await tx.agents.byName(name);
    const turn = agent === undefined ? undefined : await tx.turns.runningFor(agent.id);
    if (turn === undefined) return;
    await tx.turns.end(turn.id, turn.fence, settledTurn(world.clock.now));
  });
}

/** What the engine and supervisors do for agents that were asked to stop. */
async function settle(world: MergeWorld): Promise<void> {
  for (const { name } of await world.store.read((tx) => tx.agents.stopping())) {
    await endTurn(world, name);
    await world.asEngine((tx, context) => end(tx, context, name));
  }
}

/** Ends a live agent: as asked, or by a crash. */
async function end(tx: Tx, context: Context, name: string): Promise<void> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent)) return;
  const crash = { state: "zombie", outcome: "crashed", actor: "engine", reason: "it crashed" } as const;
  const ending = agent.stopRequestedBy === null ? crash : stopEnd(agent.stopRequestedBy);
  await endAgent(tx, context, agent, { ...ending, death: ending.reason, turnId: null });
}

/** What holds after every step. */
async function expectSound(world: MergeWorld): Promise<void> {
  const { held, deaths } = await world.store.read(async (tx) => {
    const unclosed = await tx.tasks.list({ unclosed: true });
    const held: string[] = [];
    for (const { id, claimedBy } of unclosed) {
      const holder = claimedBy === null ? undefined : await tx.agents.byName(claimedBy);
      if (holder !== undefined && holder.releasedAt !== null) held.push(`${id} by ${holder.name}`);
    }
    const told = await tx.messages.list({ type: "worker_died" });
    const deaths: string[] = [];
    for (const { fromAgent } of told) {
      if ((await tx.agents.byName(fromAgent))?.outcome === "stopped") deaths.push(fromAgent);
    }
    return { held, deaths };
  });
  expect({ held, deaths }).toEqual({ held: [], deaths: [] });
}

/**
 * Ends the run as an operator does who knows nothing but what the refusals print: each open end names a command that gives
 * it up. The operator completes the run, or leaves that to the coordinator and obeys what the coordinator is told. Answers
 * how many rounds it took. `verdict`: what a last reviewer finds that is started meanwhile; null: it says nothing.
 */
async function completeByCommands(
  world: MergeWorld,
  by: "operator" | "coordinator",
  verdict: string | null,
): Promise<number> {
  for (let round = 1; round <= 8; round++) {
    await settle(world);
    const ended = await complete(world, by);
    if (ended.ok && ended.value.status === "completed") return round;
    if (ended.ok && verdict !== null) await review(world, verdict);
    if (ended.ok) continue;
    if (ended.refusal.kind === "no-current-run") return round;
    if (ended.refusal.kind !== "run-open") throw new Error(`refused: ${JSON.stringify(ended.refusal)}`);
    for (const { fix } of await shown(world, ended.refusal)) await type(world, fix, { endsRun: true });
  }
  throw new Error("the commands that the refusals show do not end the run");
}

/**
 * What the operator is shown about a run that could not end. Where the coordinator was refused, the operator looks at the
 * same open ends (`ov coordinator check-complete`), with what an operator may do about them.
 */
async function shown(world: MergeWorld, refusal: Refusal): Promise<readonly { readonly fix: string }[]> {
  if (refusal.kind !== "run-open") return [];
  const seen = await world.store.read(async (tx) => {
    const run = await tx.runs.get("run-2");
    return run === undefined ? [] : openEndsOf(tx, run, "operator");
  });
  return refusal.mayForce || seen.length === 0 ? refusal.open : seen;
}

const clearing =
  /ov (mail check|task drop|stop|release|merge cancel|run criteria waive|run complete)\b(?: ([\w./-]+))?/g;

/**
 * Types the commands of a fix that give something up, in their order. What an earlier one cleared may be refused. The mail
 * of the coordinator is read by the coordinator.
 */
async function type(world: MergeWorld, fix: string, { endsRun }: { readonly endsRun: boolean }): Promise<void> {
  const typed = [...fix.matchAll(clearing)];
  if (typed.length === 0) throw new Error(`no command of the operator clears it: ${fix}`);
  for (const [, verb, of = ""] of typed) {
    world.clock.now += 1000;
    if (verb === "task drop") await world.call(recordDrop, { id: of, reason: "not wanted" });
    else if (verb === "stop") await world.call(requestStop, { name: of, tree: false });
    else if (verb === "release") await world.call(releaseAgentCommand, { name: of });
    else if (verb === "merge cancel") await world.call(cancelMerge, { of });
    else if (verb === "mail check") await world.call(checkMail, {}, { caller: world.coordinator });
    else if (verb === "run complete") await (endsRun ? complete(world, "operator") : undefined);
    else await world.call(waiveCriterionOfRun, { number: Number(of), reason: "not needed", runId: "run-2" });
    await settle(world);
  }
}

test("no refusal holds a run for ever: whatever happened, the commands that it shows end the run", async () => {
  const met = { started: 0, asked: 0, read: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 18 }),
      fc.constantFrom(...seats),
      fc.constantFrom("operator" as const, "coordinator" as const),
      fc.constantFrom("pass", "needs_changes", null),
      async (steps, most, by, verdict) => {
        await using world = await team(most);
        for (const one of steps) {
          await take(world, one);
          await expectSound(world);
        }
        await completeByCommands(world, by, verdict);
        await expectSound(world);
        const { run, open, reviewer, asked, verdicts } = await world.store.read(async (tx) => ({
          run: await tx.runs.get("run-2"),
          open: await tx.tasks.list({ runId: "run-2", unclosed: true }),
          reviewer: await tx.agents.byName("last-review-1"),
          asked: await tx.messages.list({ type: "decision_gate" }),
          verdicts: (await tx.messages.list({ type: "review" })).filter(({ fromAgent }) => fromAgent !== "b1"),
        }));
        expect(run?.status).toBe("completed");
        expect(open).toEqual([]);
        met.started += reviewer === undefined ? 0 : 1;
        met.asked += asked.length > 0 ? 1 : 0;
        met.read += verdicts.length > 0 ? 1 : 0;
      },
    ),
    { numRuns: 60 },
  );
  // The histories are worth something only if last reviews were started, came to a verdict, or could not be done.
  expect(met.started).toBeGreaterThan(0);
  expect(met.asked).toBeGreaterThan(0);
  expect(met.read).toBeGreaterThan(0);
}, 120_000);

test("a finished branch that was not handed over must be handed over or dropped, and its builder is not released", async () => {
  await using world = await team(9);
  const about = async (reader: string) => {
    const open = await world.store.read(async (tx) => {
      const run = await tx.runs.get("run-2");
      return run === undefined ? [] : openEndsOf(tx, run, reader);
    });
    return open.filter(({ name }) => name === "b1" || name === "T1").map(({ fix }) => fix);
  };
  const drop = 'ov task drop T1 --reason "<why>"';
  for (const fix of await about("operator")) {
    expect(fix).toBe(`hand its finished branch over: ov merge add ${builderBranch}, or give the work up: ${drop}`);
  }
  // Its lead lives and answers for it.
  for (const fix of await about("coordinator")) {
    expect(fix).toContain("ask lead-1 for it: ov mail send --to lead-1");
    expect(fix).toEndWith(drop);
  }
  await world.asEngine(async (tx, context) => {
    const lead = await tx.agents.byName("lead-1");
    const over = { state: "completed", outcome: "done", actor: "engine", reason: "done", death: null } as const;
    if (lead !== undefined) await endAgent(tx, context, lead, { ...over, turnId: null });
  });
  const own = await about("coordinator");
  expect(own).toHaveLength(2);
  for (const fix of own) {
    expect(fix).toContain(`--type merge_ready --subject "${builderBranch}"`);
    expect(fix).toContain(`--payload '{"branch":"${builderBranch}"}'`);
    expect(fix).toEndWith(drop);
    expect(fix).not.toContain("ov release");
  }
});
