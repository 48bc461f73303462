import { expect, test } from "bun:test";
import { limited } from "../../../testkit/budget-world.ts";
import { coordinator, end, met } from "../../../testkit/last-review-world.ts";
import { type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { type BudgetSettings, noBudgets } from "../../domain/budget/budget.ts";
import { changeState } from "../agents/reopen-agent.ts";
import { liftBudgetWaits } from "../budgets/lift-waits.ts";
import { reserveTurn, settleTurnBudget } from "../budgets/turn-budget.ts";
import { replyToMail } from "../mail/reply.ts";

import { decide } from "../operator/decide.ts";
import { openDecisions } from "../operator/decisions.ts";
import { endRun } from "./change-run.ts";

/** The run has the budget for one turn, which its coordinator took. Then the last reviewer cannot start. */
async function parkedReview(world: UseCaseWorld): Promise<void> {
  await met(world, 2);
  await turnOf(world, "coordinator");
  await end(world);
  await world.store.transaction(async (tx) => {
    const [head, reviewer] = [await tx.agents.byName("coordinator"), await tx.agents.byName("last-review-1")];
    const over = { to: "between_turns", actor: "supervisor", reason: "its turn has ended" } as const;
    if (head !== undefined) await changeState(tx, head, over, world.now());
    if (reviewer !== undefined) await tx.agents.setBase(reviewer.id, "c1");
  });
  expect(await starts(world, "last-review-1")).toBe(false);
}

const oneTurn = limited("run", { turns: 1 });

const termsOf = (world: UseCaseWorld, limits: BudgetSettings) => {
  const { now, ids } = world.context();
  return { now, ids, limits };
};

const agentOf = async (world: UseCaseWorld, name: string) => {
  const agent = await world.store.read((tx) => tx.agents.byName(name));
  if (agent === undefined) throw new Error(`no agent ${name}`);
  return agent;
};

async function starts(world: UseCaseWorld, name: string, limits = oneTurn): Promise<boolean> {
  const agent = await agentOf(world, name);
  const turn = { id: `turn-of-${name}` };
  return (await world.store.transaction((tx) => reserveTurn(tx, { ...termsOf(world, limits), turn, agent }))).ok;
}

async function turnOf(world: UseCaseWorld, name: string): Promise<void> {
  expect(await starts(world, name)).toBe(true);
  const agent = await agentOf(world, name);
  const turn = { id: `turn-of-${name}`, startedAt: world.now() };
  const ended = { ...termsOf(world, oneTurn), turn, agent, costUsd: null };
  await world.store.transaction((tx) => settleTurnBudget(tx, ended));
}

const asked = (world: UseCaseWorld) => world.store.read((tx) => openDecisions(tx, { runId: "run-1" }));
const runOf = (world: UseCaseWorld) => world.store.read((tx) => tx.runs.get("run-1"));

test("a last reviewer that a used-up budget parks is a decision of the operator, asked once", async () => {
  await using world = useCaseWorld();
  await parkedReview(world);
  for (const _ of [1, 2]) await starts(world, "last-review-1");
  const questions = await asked(world);
  expect(questions).toMatchObject([{ from: "coordinator", options: ["complete without it", "wait"] }]);
  expect(questions[0]?.context).toContain("last-review-1 cannot start: its budget run:run-1:turns is used up");
  expect(questions[0]?.context).toContain("ov budget raise run run-1 turns <amount>");
  expect(await runOf(world)).toMatchObject({ status: "active" });
});

test("a budget that other turns use up while the reviewer waits for it is asked about too", async () => {
  await using world = useCaseWorld();
  await met(world, 2);
  await end(world);
  expect(await starts(world, "coordinator")).toBe(true);
  expect(await starts(world, "last-review-1")).toBe(false);
  expect(await asked(world)).toEqual([]);
  await turnOf(world, "coordinator");
  expect(await asked(world)).toHaveLength(1);
});

test("a last reviewer that the same budget parks again is asked about again, whatever was said before", async () => {
  for (const isAnswered of [true, false]) {
    await using world = useCaseWorld();
    await parkedReview(world);
    const [question] = await asked(world);
    if (isAnswered) await world.must(decide, { id: question?.id ?? "", option: "wait" });
    const raised = limited("run", { turns: 2 });
    await world.store.transaction((tx) => liftBudgetWaits(tx, termsOf(world, raised)));
    expect(await starts(world, "last-review-1", raised)).toBe(true);
    const ended = { ...termsOf(world, raised), turn: { id: "turn-of-last-review-1", startedAt: world.now() } };
    const agent = await agentOf(world, "last-review-1");
    await world.store.transaction((tx) => settleTurnBudget(tx, { ...ended, agent, costUsd: null }));
    expect(await starts(world, "last-review-1", raised)).toBe(false);
    const again = await asked(world);
    expect(again).toMatchObject([{ options: ["complete without it", "wait"] }]);
    expect(again[0]?.id).not.toBe(question?.id);
  }
});

test("the word to wait for a parked reviewer is nobody's turn, but for what is said beside it", async () => {
  for (const note of [undefined, "until Monday"]) {
    await using world = useCaseWorld();
    await parkedReview(world);
    const said = { id: (await asked(world))[0]?.id ?? "", option: "wait", ...(note === undefined ? {} : { note }) };
    const decided = await world.must(decide, said);
    expect(decided).toMatchObject({ option: "wait", to: note === undefined ? null : "coordinator" });
    expect(decided.woken).toEqual(note === undefined ? [] : ["coordinator"]);
    expect(await asked(world)).toEqual([]);
    expect(await runOf(world)).toMatchObject({ status: "active" });
  }
});

const bySaying = ["ov decide", "ov mail reply"] as const;

test.each(bySaying)("the word to do without it, by %s, ends the run with a parked coordinator", async (command) => {
  await using world = useCaseWorld();
  await parkedReview(world);
  await world.store.transaction(async (tx) => {
    const wait = { kind: "budget", ref: "run:run-1:turns", since: 1, deadline: null } as const;
    await tx.waits.add({ agentName: "coordinator", ...wait });
  });
  const id = (await asked(world))[0]?.id ?? "";
  if (command === "ov decide") {
    const decided = await world.must(decide, { id, option: "complete without it" });
    expect(decided).toMatchObject({ to: null, woken: [], ended: "run-1" });
  } else {
    expect(await world.must(replyToMail, { id, body: "complete without it" })).toMatchObject({ woken: [] });
  }
  expect(await runOf(world)).toMatchObject({ status: "completed" });
  for (const name of ["last-review-1", "coordinator"]) {
    expect(await agentOf(world, name)).toMatchObject({ state: "completed", releasedAt: expect.any(Number) });
  }
  expect(await asked(world)).toEqual([]);
  expect(await world.store.read((tx) => tx.tasks.list({ unclosed: true }))).toEqual([]);
});

test.each(bySaying)("a coordinator that can go on ends the run itself after that word by %s", async (command) => {
  await using world = useCaseWorld();
  await parkedReview(world);
  const id = (await asked(world))[0]?.id ?? "";
  const said =
    command === "ov decide"
      ? await world.must(decide, { id, option: "complete without it" })
      : await world.must(replyToMail, { id, body: "complete without it" });
  expect(said).toMatchObject({ woken: ["coordinator"] });
  expect(await runOf(world)).toMatchObject({ status: "active" });
  expect(await end(world)).toMatchObject({ status: "completed" });
});

test("the reviewer goes on when the budget is raised, and then the question is closed", async () => {
  for (const isAnswered of [true, false]) {
    await using world = useCaseWorld();
    await parkedReview(world);
    const [question] = await asked(world);
    if (isAnswered) await world.must(decide, { id: question?.id ?? "", option: "wait" });
    await world.store.transaction((tx) => liftBudgetWaits(tx, termsOf(world, noBudgets)));
    expect(await starts(world, "last-review-1", noBudgets)).toBe(true);
    expect(await asked(world)).toEqual([]);
    expect(await world.call(endRun, { landed: "c1" }, coordinator)).toMatchObject({
      refusal: { kind: "run-open", agents: ["last-review-1"] },
    });
  }
});
