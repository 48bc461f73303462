import { expect } from "bun:test";
import { engineCaller } from "../src/domain/caller/caller.ts";
import type { Missing } from "../src/domain/completion/check.ts";
import { Rollback } from "../src/ports/store.ts";
import { endAgent } from "../src/usecases/agents/end-agent.ts";
import { acceptCompletion } from "../src/usecases/completions/accept.ts";
import { checkStatus, requestDone } from "../src/usecases/completions/checks.ts";
import { checkMail } from "../src/usecases/mail/check.ts";
import { endRun } from "../src/usecases/runs/change-run.ts";
import type { LandedLook } from "../src/usecases/runs/end-after-review.ts";
import { aCriterion, aTask } from "./contracts/store/rows.ts";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld } from "./use-case.ts";

/** Leads the run of these tests. */
export const coordinator = agentCaller("coordinator", "coordinator", { runId: "run-1" });

/** A run in which everything is met but the last review, with so many tasks. */
export async function met(world: UseCaseWorld, tasks: number, runId = "run-1"): Promise<void> {
  const run = { ...activeRun(runId, world.now()), coordinatorName: "coordinator", objective: "Do it all" };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...run, checklist: true, targetBranch: "main", landingBranch: "overstory/integration/x" });
    const facts = { capability: "coordinator", runId, parentName: "operator", depth: 0 } as const;
    const before = await tx.agents.byName("coordinator");
    const over = { state: "completed", outcome: "done", actor: "engine", reason: "its run is over" } as const;
    if (before !== undefined) await endAgent(tx, world.context(), before, { ...over, death: null, turnId: null });
    const generation = (before?.generation ?? 0) + 1;
    const id = generation === 1 ? "agent-coordinator" : `agent-coordinator-${generation}`;
    await tx.agents.reserve(storedAgent("coordinator", { ...facts, id, generation, state: "in_turn" }));
    const proof = { proofKind: "file", proofPath: "a.ts", provedAt: 1, provedBy: "coordinator" } as const;
    for (const number of [1, 2]) await tx.criteria.put(aCriterion(number, { runId, addedAt: 1, ...proof }));
    for (let n = 1; n <= tasks; n++) await tx.tasks.insert(aTask(`${runId}-T${n}`, { runId, status: "closed" }));
  });
}

/** The coordinator asks for the end in a turn that was shown its mail, when this commit has landed. */
export async function end(world: UseCaseWorld, landed = "c1") {
  await world.must(checkMail, {}, coordinator);
  return world.must(endRun, { landed }, coordinator);
}

/** The reviewer has read this commit and ends, with a verdict or without. */
export async function reads(
  world: UseCaseWorld,
  name: string,
  commit: string,
  verdict: string | null,
  findings?: string,
): Promise<void> {
  await world.store.transaction(async (tx) => {
    const reviewer = await tx.agents.byName(name);
    if (reviewer === undefined) throw new Error("nobody reads");
    await tx.agents.setBase(reviewer.id, commit);
    if (verdict !== null) return;
    const death = { actor: "supervisor", reason: "it crashed", death: "it crashed", turnId: null } as const;
    await endAgent(tx, world.context(), reviewer, { state: "zombie", outcome: "crashed", ...death });
  });
  if (verdict !== null)
    expect(await finishes(world, name, { verdict, ...(findings === undefined ? {} : { findings }) })).toEqual([]);
}

/** What a reviewer that does not pass finds, where a test does not say more. */
export const finding = "a.ts:3: error: the second part is missing";

/** The reviewer says that it is done. Answers what is missing; nothing: it was accepted. */
export async function finishes(
  world: UseCaseWorld,
  name: string,
  said: { readonly verdict?: string; readonly branch?: string; readonly findings?: string; readonly summary?: string },
  landedLook?: LandedLook,
): Promise<readonly Missing[]> {
  const findings = said.verdict === "pass" ? {} : { findings: finding };
  const { id } = await world.must(requestDone, { summary: "I have read it", agent: name, ...findings, ...said });
  await world.store.transaction((tx) => tx.checks.change(id, ["queued"], { status: "running" }));
  const { check } = await world.must(checkStatus, { id });
  if (check.request.kind !== "completion") throw new Error("that is no completion");
  const proved = { check, request: check.request.done, work: null, unmerged: [], proved: null, landedLook };
  try {
    await world.store.transaction((tx) => acceptCompletion(tx, world.context(engineCaller), proved));
    return [];
  } catch (thrown) {
    if (!(thrown instanceof Rollback)) throw thrown;
    await world.store.transaction((tx) => tx.checks.change(id, ["running"], { status: "failed" }));
    return thrown.value;
  }
}
