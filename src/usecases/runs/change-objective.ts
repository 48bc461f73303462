import { hasEnded } from "../../domain/agent/agent.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import {
  amendable,
  amendCriterion,
  changeObjective,
  isWithdrawal,
  maybeTakenBack,
  type RunChange,
} from "../../domain/run/change.ts";
import { addCriteria, type Criterion, waiveOption } from "../../domain/run/checklist.ts";
import type { Run } from "../../domain/run/run.ts";
import { fields, list, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import { fromCaller, post } from "../mail/post.ts";
import type { Context, UseCase } from "../usecase.ts";
import { type ChecklistReply, findCriterion, listCriteria, ownRun, recordWaiver } from "./criteria.ts";
import { findRun } from "./read-runs.ts";
import { lastReviewers } from "./verdict-on-whole.ts";

export interface ChangeRunRequest {
  /** Default: the current run, else the newest. */
  readonly runId?: string | undefined;
  /** The wish that is added to the objective. */
  readonly words: string;
  /** Criteria that the change makes needless: they are waived with the words as reason. */
  readonly waive?: readonly number[] | undefined;
}

export interface ChangeRunReply extends ChecklistReply {
  /** False when the last change said just that; no agent is told again. */
  readonly changed: boolean;
  /** The criterion that the words became; null while the objective is not split, and for words that only take something back. */
  readonly criterion: number | null;
  /** The words only take something back: they are no criterion. */
  readonly withdraws: boolean;
  /** Earlier criteria in the operator's own words, which the change may have taken back. */
  readonly earlier: readonly Criterion[];
  /** The coordinator that was told; null when none lives. */
  readonly told: string | null;
}

/**
 * The operator's change of mind. The words are put behind the objective, and become a criterion where the objective is
 * split, so that the run cannot end without a look at them. The coordinator is told once, and plans anew.
 */
export const changeRun: UseCase<ChangeRunRequest, ChangeRunReply> = {
  kind: "write",
  request: fields({ words: text }, { runId: text, waive: list(whole) }),
  operatorOnly: true,
  run: async (tx, context, { runId, words, waive = [] }) => {
    const { caller, now } = context;
    const found = await findRun(tx, caller, runId);
    if (!found.ok) return found;
    const run = found.value;
    if (run.status !== "active") {
      return no(invalid("run", 'has ended; begin another: ov go "<objective>"', { value: run.id }));
    }
    const changes = await tx.runs.changes(run.id);
    const decided = changeObjective(run, changes, words, { by: caller.name, now });
    if (!decided.ok) return decided;
    if (decided.value === undefined) {
      const listed = await listCriteria.run(tx, context, { runId: run.id });
      return listed.ok
        ? ok({ ...listed.value, changed: false, criterion: null, withdraws: false, earlier: [], told: null })
        : listed;
    }
    const { objective, change } = decided.value;
    for (const number of new Set(waive)) {
      const reason = `the objective was changed: ${change.words}`;
      const waived = await recordWaiver(tx, context, { number, reason, runId: run.id });
      if (!waived.ok) return waived;
    }
    await tx.runs.addChange(change);
    await tx.runs.setObjective(run.id, objective);
    const withdraws = (await tx.criteria.of(run.id)).length > 0 && isWithdrawal(change.words);
    const criterion = withdraws ? ok(null) : await criterionOf(tx, context, change);
    if (!criterion.ok) return criterion;
    const { number, words: said } = change;
    const data = { runId: run.id, number, words: said, criterion: criterion.value, waived: waive };
    await record(tx, now, { ...byCaller(caller, run.id), type: "run_changed", data });
    const listed = await listCriteria.run(tx, context, { runId: run.id });
    if (!listed.ok) return listed;
    const earlier = maybeTakenBack(await tx.criteria.of(run.id), changes, criterion.value);
    const reply = { ...listed.value, changed: true, criterion: criterion.value, withdraws, earlier };
    return ok({ ...reply, told: await tell(tx, context, change, reply) });
  },
};

/** While the objective is not split, the objective itself is the checklist, and it has the words by now. */
async function criterionOf(tx: Tx, { caller, now }: Context, { runId, words }: RunChange) {
  const stored = await tx.criteria.of(runId);
  const same = stored.find((one) => one.text === words);
  if (stored.length === 0 || same !== undefined) return ok(same?.number ?? null);
  const added = addCriteria(runId, stored, [words], { by: caller.name, now });
  if (!added.ok) return added;
  for (const criterion of added.value) await tx.criteria.put(criterion);
  return ok(added.value[0]?.number ?? null);
}

/** The coordinator alone: it knows which agents the change concerns, and tells or drops them. */
async function tell(
  tx: Tx,
  context: Context,
  change: RunChange,
  { run, criteria, criterion, withdraws, earlier }: Omit<ChangeRunReply, "told">,
): Promise<string | null> {
  const head = run.coordinatorName === null ? undefined : await tx.agents.byName(run.coordinatorName);
  if (head === undefined || hasEnded(head)) return null;
  const { caller } = context;
  await tellReaders(tx, context, change, run);
  const list = criteria.map((detail) => {
    const served = detail.tasks.length === 0 ? "no task" : detail.tasks.join(", ");
    return `- ${detail.criterion.number} [${detail.status}; ${served}] ${detail.criterion.text}`;
  });
  const body = [
    `${caller.name} changed the objective of run ${run.id}: ${change.words}`,
    ...(criterion === null ? [] : [`The change is criterion ${criterion}.`]),
    ...(withdraws
      ? ["It only takes something back, so it is no criterion. It counts over what the criteria say."]
      : []),
    ...(list.length === 0 ? [] : ["The checklist now:", ...list]),
    "Next:",
    ...amendLine(criteria, await tx.runs.changes(run.id)),
    withdraws ? `- ${askToWaive}` : '- add what is missing: ov run criteria add "<criterion>"',
    ...(criterion === null
      ? []
      : [
          `- criterion ${criterion} has the operator's own words too; if it only takes something back, ask with a decision_gate: the option "${waiveOption(criterion)}"`,
        ]),
    ...earlier.map(
      ({ number }) =>
        `- criterion ${number} has the operator's own words; if this change takes it back, ask with a decision_gate: the option "${waiveOption(number)}" does it when it is chosen`,
    ),
    '- drop tasks that are not wanted any more: ov task drop <task-id> --reason "<why>"',
    "- plan tasks for what is new, and tell leads whose work changes",
  ].join("\n");
  await post(tx, context, {
    ...fromCaller(caller),
    runId: run.id,
    address: head.name,
    recipients: [{ name: head.name, wake: true, reason: "the operator changed the objective of its run" }],
    subject: `objective changed: ${change.words.length > 60 ? `${change.words.slice(0, 59)}…` : change.words}`,
    body,
    type: "dispatch",
    priority: "high",
    payload: JSON.stringify({ change: await objectiveChanges(tx, run), criterion }),
  });
  return head.name;
}

/** Names the criteria that the coordinator may amend; those in the operator's words are refused to it. */
function amendLine(details: ChangeRunReply["criteria"], changes: readonly RunChange[]): readonly string[] {
  const numbers = amendable(
    details.map(({ criterion }) => criterion),
    changes,
  ).map(({ number }) => number);
  if (numbers.length === 0) return [];
  return [
    `- put criteria that are wrong now into other words, of ${numbers.join(", ")}: ov run criteria amend <number> "<words>"`,
  ];
}

const askToWaive =
  'where nothing is left of a criterion, ask the operator with a decision_gate that has the option "waive criterion <number>"';

/** Counted as in the objective itself, without the changes of criteria. */
const objectiveChanges = async (tx: Tx, { id }: Run): Promise<number> =>
  (await tx.runs.changes(id)).filter(({ criterion }) => criterion === null).length;

/** A last reviewer at work would judge by the older objective. It is shown this message before it can finish. */
async function tellReaders(tx: Tx, context: Context, { number, words }: RunChange, run: Run): Promise<void> {
  for (const reviewer of await lastReviewers(tx, run)) {
    if (hasEnded(reviewer)) continue;
    await post(tx, context, {
      ...fromCaller(context.caller),
      runId: run.id,
      address: reviewer.name,
      recipients: [{ name: reviewer.name, wake: false }],
      subject: "objective changed while you read",
      body: `The objective of run ${run.id} was changed: ${words}\nRead the checklist again (ov run criteria), and judge by what it says now.`,
      type: "status",
      priority: "high",
      payload: JSON.stringify({ objectiveChange: number }),
    });
  }
}

export interface AmendRequest {
  readonly runId?: string | undefined;
  readonly number: number;
  readonly text: string;
}

/** Puts a criterion into other words. The older ones are kept, and so is its number. */
export const amendCriterionOfRun: UseCase<AmendRequest, ChecklistReply> = {
  kind: "write",
  request: fields({ number: whole, text }, { runId: text }),
  run: async (tx, context, { number, text: words, runId }) => {
    const { caller, now } = context;
    const found = await ownRun(tx, caller, runId, "amend a criterion of");
    if (!found.ok) return found;
    const run: Run = found.value;
    const criterion = await findCriterion(tx, run, number);
    if (!criterion.ok) return criterion;
    if ((await tx.criteria.of(run.id)).length === 0) {
      const problem = 'is the whole objective, which nobody has split: ov run criteria add "<criterion>"';
      return no(invalid("number", problem, { value: String(number) }));
    }
    const by = { by: caller.name, now, isOperator: caller.kind !== "agent" };
    const amended = amendCriterion(criterion.value, await tx.runs.changes(run.id), words, by);
    if (!amended.ok) return amended;
    await tx.criteria.put(amended.value.criterion);
    await tx.runs.addChange(amended.value.change);
    const data = { runId: run.id, number, words: amended.value.change.words, wordsBefore: criterion.value.text };
    await record(tx, now, { ...byCaller(caller, run.id), type: "criterion_amended", data });
    return listCriteria.run(tx, context, { runId: run.id });
  },
};
