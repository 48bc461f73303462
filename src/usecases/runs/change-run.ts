import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { findingLines } from "../../domain/completion/request.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { isIntegration } from "../../domain/merge/landing-branch.ts";
import { promoteCommand } from "../../domain/merge/words.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { type Criterion, proofWords } from "../../domain/run/checklist.ts";
import type { Lack, OpenEnd } from "../../domain/run/open-ends.ts";
import type { Run, RunStatus } from "../../domain/run/run.ts";
import { forbiddenToComplete, isLastReviewer } from "../../domain/run/run.ts";
import { fields, flag, list, notSent, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { giveBackTask, releaseIfDue } from "../agents/release-agent.ts";
import { retireIfOver } from "../coordinators/retire.ts";
import { byCaller, record } from "../events/record.ts";
import { unreadOrders } from "../mail/before-finish.ts";
import { type Draft, fromEngine, post, tellOperator } from "../mail/post.ts";
import { refusedTarget } from "../merge/landing/landing-target.ts";
import { promoteAtEnd } from "../merge/landing/promotion.ts";
import { landingsSincePromotion } from "../merge/landing/unpromoted.ts";
import { moveEntry } from "../merge/queue/enqueue.ts";
import { closeAndFollow } from "../tasks/close-task.ts";
import type { Context, UseCase } from "../usecase.ts";
import { checklist } from "./checklist.ts";
import { recordWaiver } from "./criteria.ts";
import { type LastReview, lastReviewOf, startLastReview } from "./last-review.ts";
import { isStillOpen, openEndsOf } from "./open-ends.ts";
import { currentRun, findRun } from "./read-runs.ts";
import { lastVerdictOf, type VerdictOnWhole } from "./verdict-on-whole.ts";

export interface EndReply {
  readonly runId: string;
  readonly status: RunStatus;
  /** The open ends of a run that was ended by force. */
  readonly open: readonly OpenEnd[];
  /** A sentence about the last review. A run that still needs one stays active. */
  readonly review: string | null;
}

interface EndRequest {
  /** Default: the current run. An agent names no run but its own. */
  readonly runId?: string | undefined;
  readonly force?: boolean | undefined;
  readonly waive?: readonly number[] | undefined;
  readonly reason?: string | undefined;
  /** Evidence that the landed tree lacks: `run.complete` looked for it, because it has git at hand. */
  readonly lacks?: readonly Lack[] | undefined;
  /** The tip of the branch where the run lands, looked up in the same way; null where there is no such branch yet. */
  readonly landed?: string | null | undefined;
}

/**
 * Ends the current run, once its tasks are closed, its agents are released or dead and nothing of it is on its way into a
 * branch. The operator may end it before that by force. Its agents are left alone: stopping them is a decision of its own.
 */
export const endRun: UseCase<EndRequest, EndReply> = {
  kind: "write",
  request: fields(
    {},
    {
      runId: text,
      force: flag,
      waive: list(whole),
      reason: text,
      lacks: notSent,
      landed: notSent,
    },
  ),
  run: async (tx, context, { runId, force, waive, reason, lacks, landed }) => {
    const found = await runToEnd(tx, context.caller, runId);
    if (!found.ok) return found;
    const run = found.value;
    const refused = forbiddenToComplete(context.caller, run.id);
    if (refused !== undefined) return no(refused);
    if (force === true && context.caller.kind === "agent") {
      const why = "only the operator ends a run that has open ends";
      return no({ kind: "not-allowed", action: `complete ${run.id} by force`, caller: context.caller.name, why });
    }
    for (const number of waive ?? []) {
      if (context.caller.kind === "agent") {
        const why = "only the operator decides that a criterion need not be met";
        return no({ kind: "not-allowed", action: `waive criterion ${number}`, caller: context.caller.name, why });
      }
      const waived = await recordWaiver(tx, context, { number, reason: reason ?? "", runId: run.id });
      if (!waived.ok) return waived;
    }
    const ends = await openEndsOf(tx, run, context.caller.name, lacks);
    const open = [...(await unreadEnds(tx, context)), ...ends];
    if (open.length > 0 && force !== true) return no(await isStillOpen(tx, run, context.caller, open));
    if (run.checklist && landed === undefined && context.caller.kind === "agent") {
      const why = "nobody has looked for the evidence of its checklist; run.complete does";
      return no({ kind: "not-allowed", action: `end ${run.id}`, caller: context.caller.name, why });
    }
    const review = await lastReviewOf(tx, context, run, landed);
    // The operator may end the run without a passed review, and is told the findings, or that nobody read the whole.
    const mayDoWithout = context.caller.kind !== "agent";
    if (review.kind === "no" && !mayDoWithout) return no(await isStillOpen(tx, run, context.caller, [review.end]));
    if (review.kind === "needed" && !mayDoWithout) {
      return ok({ runId: run.id, status: "active", open: [], review: await startLastReview(tx, context, run) });
    }
    const said = reviewWords(review, force === true) ?? remarksWords(await lastVerdictOf(tx, run));
    await recordEnd(tx, context, run, open);
    const head = run.coordinatorName === null ? undefined : await tx.agents.byName(run.coordinatorName);
    if (head !== undefined) await retireIfOver(tx, context, head);
    return ok({ runId: run.id, status: "completed", open, review: said });
  },
};

/** What the operator or its parent wrote to the coordinator that ends its run, and that it has not read. */
async function unreadEnds(tx: Tx, { caller, now }: Context): Promise<readonly OpenEnd[]> {
  const agent = caller.kind === "agent" ? await tx.agents.get(caller.agentId) : undefined;
  const unread = agent === undefined ? [] : await unreadOrders(tx, agent, now);
  return unread.map(({ id, fromAgent, subject }) => ({
    kind: "mail",
    name: id,
    what: `you have not read what ${fromAgent} wrote: "${subject}" (${id})`,
    fix: "read it: ov mail check (tool: inbox); act on it, then end the run again",
  }));
}

async function runToEnd(tx: Tx, caller: Caller, runId: string | undefined): Promise<Result<Run, Refusal>> {
  const current = await currentRun(tx, caller);
  if (runId === undefined || runId === current?.id) {
    return current?.status === "active" ? ok(current) : no({ kind: "no-current-run" });
  }
  if (caller.kind === "agent") {
    const why = "an agent ends no run but its own";
    return no({ kind: "not-allowed", action: `complete ${runId}`, caller: caller.name, why });
  }
  const found = await findRun(tx, caller, runId);
  if (!found.ok || found.value.status === "active") return found;
  return no(invalid("run", "has ended already; those that are active: ov run list", { value: runId }));
}

/** What an operator is told who ends a run without a last review that passed. Force leaves more open than that. */
function reviewWords(review: LastReview, force: boolean): string | null {
  if (review.kind === "no" && review.found !== null) return review.found;
  if (review.kind === "done" || force) return null;
  return "nobody has read all of it against the checklist: the last review was not done";
}

/** The coordinator was told the remarks when the review was given. */
function remarksWords(verdict: VerdictOnWhole | null): string | null {
  const count = verdict?.remarks.length ?? 0;
  if (verdict === null || count === 0) return null;
  return `the last review passed with ${count === 1 ? "1 remark" : `${count} remarks`}: ov mail list --from ${verdict.by}`;
}

/** Ends an active run, for every command that does. `open`: its open ends. */
export async function recordEnd(
  tx: Tx,
  context: Context,
  run: Run,
  open: readonly OpenEnd[],
  by?: "stop" | "clean" | "review",
): Promise<void> {
  const leftOpen = open.map(({ what }) => what);
  await tx.runs.complete(run.id, "completed", context.now, leftOpen);
  // No agent of an ended run goes on with its tasks: those neither closed nor on their way to land are ready again.
  for (const agent of newestPerName(await tx.agents.list({ runId: run.id }))) {
    if (isLastReviewer(run, agent)) {
      await closeReview(tx, context, agent);
      await releaseIfDue(tx, context, agent);
    } else if (hasEnded(agent)) await giveBackTask(tx, context, agent);
    else if (isIn("persistent", agent.capability)) await closeOwnTask(tx, context, agent);
  }
  await promoteAtEnd(tx, context, run);
  const left = open.length === 0 ? {} : { open: leftOpen };
  const data = { runId: run.id, ...(by === undefined ? {} : { by }), ...left };
  await record(tx, context.now, { ...byCaller(context.caller, run.id), type: "run_completed", data });
  const letter = await endLetter(tx, context, run);
  if (context.caller.kind !== "operator") await tellOperator(tx, context, letter);
  // A stop of the coordinator is told by itself.
  if (by !== "stop" && by !== "clean") await tellAbove(tx, context, run, letter);
}

/** An orchestrator waits for the ends of the runs below it. The coordinator itself may get no turn to report its own. */
async function tellAbove(tx: Tx, context: Context, run: Run, letter: EndLetter): Promise<void> {
  const head = run.coordinatorName === null ? undefined : await tx.agents.byName(run.coordinatorName);
  const above = head === undefined ? undefined : await tx.agents.byName(head.parentName);
  if (head === undefined || above === undefined || hasEnded(above) || above.name === context.caller.name) return;
  await post(tx, context, {
    ...fromEngine,
    ...letter,
    address: above.name,
    recipients: [{ name: above.name, wake: true, reason: "the run of a coordinator below it has ended" }],
    subject: `${run.id} of ${head.name} is complete`,
  });
}

type EndLetter = Pick<Draft, "runId" | "subject" | "body" | "type" | "priority" | "payload">;

/** Where the operator finds the work of a run that has ended. */
async function whereToLook(tx: Tx, { settings }: Context, run: Run): Promise<string> {
  const { landingBranch: landing, targetBranch: target, id: runId } = run;
  const landed = await tx.merges.list({ runId, statuses: ["merged"], limit: 1 });
  if (landed.length === 0) return `Nothing has landed in this run. See what was done: ov run show ${runId}`;
  const waits = landing !== null && target !== null && landing !== target && settings.merge.promote !== "auto";
  return waits
    ? `The work is on ${landing}. Take it over into ${target}: ${promoteCommand({ runId, target })}`
    : `See what landed: ov run show ${runId}`;
}

/** Says that a run is over, what shows that, and where the work is. */
async function endLetter(tx: Tx, context: Context, run: Run): Promise<EndLetter> {
  const { criteria } = await checklist(tx, run);
  const verdict = await lastVerdictOf(tx, run);
  const remarks = verdict?.remarks ?? [];
  const { id: runId, objective } = run;
  return {
    runId,
    subject: `${runId} is complete`,
    body: [
      ...(objective === null ? [] : [objective, ""]),
      ...criteria.map((criterion) => `${criterion.number}. ${criterion.text}: ${shownBy(criterion)}`),
      ...(remarks.length === 0
        ? []
        : ["", `${verdict?.by} passed it, and remarks:`, ...remarks.flatMap(findingLines), ""]),
      ...(verdict?.notRun ?? []).map((line) => `${verdict?.by} judged a part by reading alone; ${line}`),
      await whereToLook(tx, context, run),
    ].join("\n"),
    type: "status",
    priority: "normal",
    payload: JSON.stringify({ completed: runId, ...(remarks.length === 0 ? {} : { findingsOf: verdict?.reviewerId }) }),
  };
}

/** A coordinator that was slung with a task has done it when its run is complete. */
async function closeOwnTask(tx: Tx, context: Context, { taskId, name }: Agent): Promise<void> {
  const task = taskId === null ? undefined : await tx.tasks.get(taskId);
  if (task?.claimedBy === name) await closeAndFollow(tx, context, task, "its run is complete");
}

/** The reading of a run that has ended is over, also where the reviewer died or was not waited for. */
async function closeReview(tx: Tx, context: Context, { taskId }: Agent): Promise<void> {
  const task = taskId === null ? undefined : await tx.tasks.get(taskId);
  if (task !== undefined && task.status !== "closed") await closeAndFollow(tx, context, task, "its run is complete");
}

function shownBy(criterion: Criterion): string {
  if (criterion.waivedAt !== null) return `waived, ${criterion.waiveReason}`;
  return proofWords(criterion) ?? "not shown";
}

export interface RetargetRequest {
  /** Default: the current run, else the newest. */
  readonly runId?: string | undefined;
  /** An existing branch: the caller looks it up, because it has git at hand. */
  readonly target: string;
  /** The branch that the run was for is gone, as after a renaming: every run that lands where this one does moves along. */
  readonly wasRenamed?: boolean | undefined;
}

export interface RetargetReply {
  readonly run: Run;
  readonly before: string | null;
  /** Landed branches that wait for a promotion. */
  readonly waiting: number;
}

/**
 * Gives a run another target. Work on a landing branch of ours stays there, and is promoted to the new target. A run
 * that lands on its target directly decides anew where to land, and takes its waiting entries along. A landing branch
 * that other runs share holds their work for the old target, so a run leaves it, but only when nothing waits there.
 */
export const retargetRun: UseCase<RetargetRequest, RetargetReply> = {
  kind: "write",
  request: fields({ target: text }, { runId: text, wasRenamed: flag }),
  operatorOnly: true,
  run: async (tx, context, { runId, target, wasRenamed }) => {
    const found = await findRun(tx, context.caller, runId);
    if (!found.ok) return found;
    const run = found.value;
    const refused = await refusedTarget(tx, context, target, "branch");
    if (refused !== undefined) return no(refused);
    const before = run.targetBranch;
    const { landingBranch: landing } = run;
    const waiting =
      landing === null || !isIntegration(landing) ? 0 : (await landingsSincePromotion(tx, landing)).length;
    if (before === target) return ok({ run, before, waiting });
    const sharers = await sharersOf(tx, run);
    const [first] = sharers;
    if (first !== undefined && waiting > 0 && wasRenamed !== true) {
      const why = `lands on ${landing} together with ${first.id}, and what waits there is for ${before}; take that over first: ${promoteCommand({ runId: first.id, target: null })}`;
      return no(invalid("run", why, { value: run.id }));
    }
    const isOurs = landing !== null && isIntegration(landing);
    const landingBranch = isOurs && (first === undefined || wasRenamed === true) ? landing : null;
    await tx.runs.setBranches(run.id, { targetBranch: target, landingBranch });
    if (wasRenamed === true) {
      for (const other of sharers) await tx.runs.setBranches(other.id, { targetBranch: target, landingBranch });
    }
    if (landingBranch === null) {
      const open = await tx.merges.list({ runId: run.id, statuses: openMergeStatuses });
      for (const entry of open) {
        if ([before, landing].includes(entry.targetBranch)) await moveEntry(tx, context, entry, target);
      }
    }
    const data = { runId: run.id, from: before, to: target, landingBranch };
    await record(tx, context.now, { ...byCaller(context.caller, run.id), type: "run_retargeted", data });
    return ok({ run: { ...run, targetBranch: target, landingBranch }, before, waiting });
  },
};

/** Other runs with the same target that land on the landing branch of this one: those that go on, and those of which work waits there. */
async function sharersOf(tx: Tx, { id, landingBranch: landing, targetBranch }: Run): Promise<readonly Run[]> {
  if (landing === null || !isIntegration(landing)) return [];
  const waits = new Set((await landingsSincePromotion(tx, landing)).map(({ runId }) => runId));
  const runs = await tx.runs.list(mostRuns);
  return runs.filter(
    (run) =>
      run.id !== id &&
      run.landingBranch === landing &&
      run.targetBranch === targetBranch &&
      (run.status === "active" || waits.has(run.id)),
  );
}

/** More runs than a project has before landed work is taken over. */
const mostRuns = 1000;
