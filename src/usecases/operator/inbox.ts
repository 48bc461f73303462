import type { Agent } from "../../domain/agent/agent.ts";
import type { QueuePause } from "../../domain/merge/queue-pause.ts";
import { ok } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { readFleet } from "../agents/fleet-reading.ts";
import type { LedRun } from "../agents/stop.ts";
import { type BudgetSoon, budgetsSoon } from "../budgets/soon.ts";
import { type BlockedMerge, blockedMerges } from "../merge/queue/queue-state.ts";
import { type CollisionAhead, collisionsAhead } from "../merge/radar.ts";
import { endedLeaderOf } from "../runs/read-runs.ts";
import type { UseCase } from "../usecase.ts";
import { type OpenDecision, type OpenQuestion, openDecisions, openQuestions } from "./decisions.ts";
import {
  agentsThatNeverStarted,
  type TroubledAgent,
  troubledAgents,
  type UnhandedBranch,
  unhandedBranches,
} from "./troubled-agents.ts";

/** Everything that waits for the operator. Each stays until it is answered or acted on, however often it is shown. */
export interface Waiting {
  readonly decisions: readonly OpenDecision[];
  readonly questions: readonly OpenQuestion[];
  readonly troubled: readonly TroubledAgent[];
  readonly unhanded: readonly UnhandedBranch[];
  /** Branches that cannot land before something is mended. */
  readonly blocked: readonly BlockedMerge[];
  /** The pause of the merge queue, while there is one: it ends by the operator's word alone. */
  readonly pauses: readonly QueuePause[];
  /** Active runs whose leader has ended, and is not among the agents in trouble. */
  readonly leaderless: readonly LedRun[];
}

/** What will wait for the operator if nobody acts. Nothing waits for it, so nobody is notified of it or counts it. */
export interface Foreseen {
  readonly budgetsSoon: readonly BudgetSoon[];
  readonly collisions: readonly CollisionAhead[];
}

/** What waits for the operator, and what may soon. Their mail is read by `mail.check`, which keeps their place in it. */
export const operatorInbox: UseCase<object, Waiting & Foreseen> = {
  kind: "read",
  request: noFields,
  operatorOnly: true,
  run: async (tx, context) =>
    ok({
      ...(await waitingForOperator(tx)),
      budgetsSoon: await budgetsSoon(tx, context),
      collisions: await collisionsAhead(tx, context),
    }),
};

/** Only reads. Notifications are made of these items, so the inbox shows everything that the operator is notified of. */
export async function waitingForOperator(direct: Tx): Promise<Waiting> {
  const { tx, unreleased, isPlainlyWell } = await readFleet(direct);
  const pause = await tx.merges.pause();
  const others = unreleased.filter((agent) => !isPlainlyWell(agent));
  const active = (await tx.runs.list(mostRuns)).filter(({ status }) => status === "active");
  const troubled = await troubledAgents(tx, [...others, ...(await unstartedIn(tx, active))]);
  const led = await Promise.all(active.map((run) => endedLeaderOf(tx, run)));
  return {
    decisions: await openDecisions(tx),
    questions: await openQuestions(tx),
    troubled,
    unhanded: await unhandedBranches(tx, unreleased),
    blocked: await blockedMerges(tx),
    pauses: pause === undefined ? [] : [pause],
    leaderless: led
      .filter((one) => one !== null)
      .filter(({ coordinatorName }) => troubled.every(({ agent }) => agent.name !== coordinatorName)),
  };
}

/** More active runs than a person leads at the same time. */
const mostRuns = 20;

/** Agents of active runs that never started. The operator has mail about the agents that the operator slung. */
async function unstartedIn(tx: Tx, active: readonly Run[]): Promise<readonly Agent[]> {
  const found: Agent[] = [];
  for (const { id } of active) found.push(...(await agentsThatNeverStarted(tx, id)));
  return found.filter(({ parentName }) => parentName !== "operator");
}
