import { hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import {
  addCriteria,
  type Criterion,
  type Evidence,
  parseEvidence,
  proveCriterion,
  type SeenEvidence,
  type TypedEvidence,
  takeWaiverBack,
  unserved,
  waiveCriterion,
} from "../../domain/run/checklist.ts";
import type { Run } from "../../domain/run/run.ts";
import { either, fields, list, notSent, oneOf, orNull, text, whole } from "../../domain/schema/schema.ts";
import type { LookingGit, StoredObject } from "../../ports/merge-git.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import { fromCaller, post } from "../mail/post.ts";
import { targetOf } from "../merge/landing/landing-target.ts";
import type { Effect } from "../operation.ts";
import type { Context, UseCase } from "../usecase.ts";
import { type CriterionDetail, checklist, detailsOf, keepObjective } from "./checklist.ts";
import { findRun } from "./read-runs.ts";
import { lastVerdictOf } from "./verdict-on-whole.ts";

export interface ChecklistReply {
  readonly run: Run;
  readonly criteria: readonly CriterionDetail[];
  /** Numbers of open criteria that no task serves. */
  readonly unserved: readonly number[];
  /** The branch whose tip is the landed tree. */
  readonly landing: string;
  /** Warnings about evidence that was given just now. */
  readonly remarks: readonly string[];
}

interface OfRun {
  /** Default: the current run, else the newest. */
  readonly runId?: string | undefined;
}

export const listCriteria: UseCase<OfRun, ChecklistReply> = {
  kind: "read",
  request: fields({}, { runId: text }),
  run: async (tx, context, { runId }) => {
    const found = await findRun(tx, context.caller, runId);
    if (!found.ok) return found;
    const run = found.value;
    const { criteria, tasks } = await checklist(tx, run);
    return ok({
      run,
      criteria: detailsOf(criteria, tasks, await lastVerdictOf(tx, run)),
      unserved: unserved(criteria, tasks).map(({ number }) => number),
      landing: await targetOf(tx, context, run.id),
      remarks: [],
    });
  },
};

export interface AddCriteriaRequest extends OfRun {
  readonly texts: readonly string[];
}

/**
 * Numbered criteria, which stay with the run. Those of the coordinator split the objective and stand in its place. A wish
 * of the operator's splits nothing: an objective that is whole until then is kept beside it as criterion 1.
 */
export const addCriteriaToRun: UseCase<AddCriteriaRequest, ChecklistReply> = {
  kind: "write",
  request: fields({ texts: list(text) }, { runId: text }),
  run: async (tx, context, { texts, runId }) => {
    const found = await ownRun(tx, context.caller, runId, "add criteria to");
    if (!found.ok) return found;
    const run = found.value;
    const { caller, now } = context;
    if (caller.kind === "agent" && run.objective !== null && !run.checklist) {
      const why = "the run has no checklist; it ends without one";
      return no({ kind: "not-allowed", action: `add criteria to ${run.id}`, caller: caller.name, why });
    }
    if (caller.kind !== "agent") await keepObjective(tx, run);
    const added = addCriteria(run.id, await tx.criteria.of(run.id), texts, { by: caller.name, now });
    if (!added.ok) return added;
    for (const criterion of added.value) await tx.criteria.put(criterion);
    const numbers = added.value.map(({ number }) => number);
    await record(tx, now, { ...byCaller(caller, run.id), type: "criteria_added", data: { runId: run.id, numbers } });
    return listCriteria.run(tx, context, { runId: run.id });
  },
};

/** An active run, if the caller may say something about its checklist: its coordinator and the operator may. */
export async function ownRun(
  tx: Tx,
  caller: Caller,
  runId: string | undefined,
  action: string,
): Promise<Result<Run, Refusal>> {
  const found = await findRun(tx, caller, runId);
  if (!found.ok) return found;
  const run = found.value;
  if (caller.kind === "agent" && (caller.capability !== "coordinator" || caller.runId !== run.id)) {
    const why = "only its coordinator and the operator keep the checklist of a run";
    return no({ kind: "not-allowed", action: `${action} ${run.id}`, caller: caller.name, why });
  }
  if (run.status !== "active") return no(invalid("run", "has ended", { value: run.id }));
  return ok(run);
}

export interface ProveRequest extends OfRun, TypedEvidence {
  readonly number: number;
}

/** Stores evidence for a criterion. It counts only if the landed tree has it. */
export const proveCriterionOfRun: Effect<ProveRequest, ChecklistReply> = {
  kind: "effect",
  request: fields({ number: whole }, { runId: text, file: text, test: text, commit: text }),
  place: "engine",
  run: async (world, { number, runId, ...typed }) => {
    const evidence = parseEvidence(typed);
    if (!evidence.ok) return evidence;
    const listed = await world.call("criterion.list", { runId });
    if (!listed.ok) return listed;
    const { landing, run } = listed.value;
    const { kind } = evidence.value;
    const looked = await world.lookAhead(async (git) => {
      const landed = await git.commitOf(`refs/heads/${landing}`);
      return landed === undefined ? undefined : (await lookAt(git, { run, landed }, [evidence.value]))[0];
    });
    if (looked === undefined) {
      return no(invalid(kind, `cannot be looked for: the branch ${landing} is not there yet`));
    }
    const value = typed.file ?? typed.test ?? typed.commit ?? "";
    if (looked.problem !== undefined) {
      const where = `${landing} (${looked.landed.slice(0, 12)})`;
      const advice = "prove it when it has landed (ov merge list), or name other evidence";
      return no(invalid(kind, `${looked.problem} on ${where}; ${advice}`, { value }));
    }
    if (kind === "commit" && looked.unchanged) {
      const advice = "name a commit of this run, or a file or a test that shows what was met before";
      return no(invalid(kind, `was there before this run began; ${advice}`, { value }));
    }
    return world.call("criterion.recordProof", { runId: run.id, number, evidence: evidence.value, seen: looked });
  },
};

/** Looks for evidence on a landed commit, in the order given. `problem`: why the commit does not show it. */
export async function lookAt(
  git: EvidenceGit,
  { run, landed }: { readonly run: Run; readonly landed: string },
  all: readonly Evidence[],
): Promise<readonly (SeenEvidence & { readonly problem: string | undefined })[]> {
  // A run that has not chosen its landing branch yet has landed nothing, so all evidence is older.
  const start = run.startCommit ?? (run.landingBranch === null ? landed : null);
  const files = await lookAtFiles(git, start === null ? [landed] : [landed, start], all);
  const isUnchanged = async (evidence: Evidence, from: string): Promise<boolean> => {
    if (evidence.kind === "commit") return git.contains(from, evidence.commit);
    return from === landed || files.at(from, evidence.path)?.id === files.at(landed, evidence.path)?.id;
  };
  const seen: (SeenEvidence & { readonly problem: string | undefined })[] = [];
  for (const evidence of all) {
    const problem = await lackOf(git, landed, evidence, files);
    const unchanged = problem === undefined && start !== null && (await isUnchanged(evidence, start));
    seen.push({ landed, problem, unchanged });
  }
  return seen;
}

/** Why a landed commit does not show each of these; undefined where it does. */
export async function lacksOf(
  git: EvidenceGit,
  landed: string,
  all: readonly Evidence[],
): Promise<readonly (string | undefined)[]> {
  const files = await lookAtFiles(git, [landed], all);
  const lacks: (string | undefined)[] = [];
  for (const evidence of all) lacks.push(await lackOf(git, landed, evidence, files));
  return lacks;
}

/** The ports for finding evidence. */
export type EvidenceGit = Pick<LookingGit, "commitOf" | "contains" | "objectsAt" | "readBlob">;

interface EvidenceFiles {
  at(commit: string, path: string): StoredObject | undefined;
}

/** The files that the evidence names, in these commits. One process looks at all of them, and reads none. */
async function lookAtFiles(
  git: EvidenceGit,
  commits: readonly string[],
  all: readonly Evidence[],
): Promise<EvidenceFiles> {
  const paths = new Set(all.flatMap((evidence) => (evidence.kind === "commit" ? [] : [evidence.path])));
  const places = [...new Set(commits)].flatMap((commit) => [...paths].map((path) => ({ commit, path })));
  const objects = await git.objectsAt(places);
  const byPlace = new Map(places.map(({ commit, path }, at) => [`${commit}:${path}`, objects[at]]));
  return { at: (commit, path) => byPlace.get(`${commit}:${path}`) };
}

async function lackOf(
  git: EvidenceGit,
  landed: string,
  evidence: Evidence,
  files: EvidenceFiles,
): Promise<string | undefined> {
  if (evidence.kind === "commit") {
    const commit = await git.commitOf(evidence.commit);
    if (commit === undefined) return "is no commit of this repository";
    return (await git.contains(landed, commit)) ? undefined : "is not in the history";
  }
  const file = files.at(landed, evidence.path);
  if (file === undefined) return "does not exist";
  if (file.type === "directory") return "is a directory";
  if (evidence.kind === "file" || evidence.test === null) return undefined;
  if (file.bytes > longestTestFile) return `is too large to look for "${evidence.test}" in it`;
  const text = new TextDecoder().decode(await git.readBlob(file.id));
  return text.includes(evidence.test) ? undefined : `does not name "${evidence.test}"`;
}

/** A file of tests that people wrote is far smaller. */
const longestTestFile = 16 * 1024 * 1024;

interface FoundEvidence {
  readonly runId: string;
  readonly number: number;
  readonly evidence: Evidence;
  /** What the landed commit says about it: `criterion.prove` looked, because it has git at hand. */
  readonly seen?: SeenEvidence | undefined;
}

type Kind<K extends Evidence["kind"]> = Extract<Evidence, { kind: K }>;

export const recordProof: UseCase<FoundEvidence, ChecklistReply> = {
  kind: "write",
  request: fields(
    {
      runId: text,
      number: whole,
      evidence: either(
        fields<Kind<"file">>({ kind: oneOf(["file"]), path: text }),
        either(
          fields<Kind<"test">>({ kind: oneOf(["test"]), path: text, test: orNull(text) }),
          fields<Kind<"commit">>({ kind: oneOf(["commit"]), commit: text }),
        ),
      ),
    },
    { seen: notSent },
  ),
  run: async (tx, context, { runId, number, evidence, seen }) => {
    if (seen === undefined) {
      const why = "nobody has looked for the evidence; criterion.prove does";
      return no({ kind: "not-allowed", action: `prove criterion ${number}`, caller: context.caller.name, why });
    }
    const found = await ownRun(tx, context.caller, runId, "prove a criterion of");
    if (!found.ok) return found;
    const criterion = await findCriterion(tx, found.value, number);
    if (!criterion.ok) return criterion;
    const { caller, now } = context;
    const { landed, unchanged } = seen;
    const proved = proveCriterion(criterion.value, evidence, { by: caller.name, now, landed, unchanged });
    await tx.criteria.put(proved);
    const data = { runId, number, kind: evidence.kind, landed };
    await record(tx, now, { ...byCaller(caller, runId), type: "criterion_proved", data });
    const listed = await listCriteria.run(tx, context, { runId });
    return listed.ok ? ok({ ...listed.value, remarks: await remarksOn(tx, found.value, proved) }) : listed;
  },
};

/** What speaks against evidence that exists: it is older than the run, or the work for the criterion is not done. */
async function remarksOn(tx: Tx, run: Run, { number, proofUnchanged }: Criterion): Promise<readonly string[]> {
  const open: string[] = [];
  const { tasks } = await checklist(tx, run);
  for (const { taskId } of tasks.filter((served) => served.number === number)) {
    if ((await tx.tasks.get(taskId))?.status !== "closed") open.push(taskId);
  }
  const old = "the evidence was there before this run and is unchanged, so no work of the run shows it";
  return [
    ...(proofUnchanged ? [`${old}; the last reviewer and the operator are told`] : []),
    ...(open.length === 0 ? [] : [`work for this criterion is not done yet: ${open.join(", ")}`]),
  ];
}

export interface WaiveRequest extends OfRun {
  readonly number: number;
  readonly reason: string;
}

/** The operator decides that a criterion need not be met. The coordinator is told. */
export const waiveCriterionOfRun: UseCase<WaiveRequest, ChecklistReply> = {
  kind: "write",
  request: fields({ number: whole, reason: text }, { runId: text }),
  operatorOnly: true,
  run: async (tx, context, request) => {
    const waived = await recordWaiver(tx, context, request);
    if (!waived.ok) return waived;
    const { runId, number, text: words, waiveReason } = waived.value;
    const listed = await listCriteria.run(tx, context, { runId });
    if (!listed.ok) return listed;
    const needless: string[] = [];
    for (const id of listed.value.criteria.find(({ criterion }) => criterion.number === number)?.tasks ?? []) {
      if ((await tx.tasks.get(id))?.status !== "closed") needless.push(id);
    }
    const drop = `Its open tasks: ${needless.join(", ")}. Drop those that nobody needs now: ov task drop <task-id> --reason "<why>"`;
    await tellCoordinator(tx, context, listed.value.run, {
      subject: `criterion ${number} is waived`,
      body: [
        `${context.caller.name} decided that criterion ${number} need not be met: ${waiveReason}`,
        `The criterion was: ${words}`,
        needless.length === 0 ? "When nothing else is open, end the run: ov run complete" : drop,
      ].join("\n"),
      asksNow: needless.length > 0,
    });
    return listed;
  },
};

/** Waives a criterion for every command that does. */
export async function recordWaiver(
  tx: Tx,
  { caller, now }: Context,
  { number, reason, runId }: WaiveRequest,
): Promise<Result<Criterion, Refusal>> {
  const found = await ownRun(tx, caller, runId, "waive a criterion of");
  if (!found.ok) return found;
  const run = found.value;
  const criterion = await findCriterion(tx, run, number);
  if (!criterion.ok) return criterion;
  const why = reason.trim();
  if (why === "") return no(invalid("reason", "must say why the criterion need not be met"));
  const waived = waiveCriterion(criterion.value, { by: caller.name, now, reason: why });
  await tx.criteria.put(waived);
  const data = { runId: run.id, number, reason: why };
  await record(tx, now, { ...byCaller(caller, run.id), type: "criterion_waived", data });
  return ok(waived);
}

interface CriterionNews {
  readonly subject: string;
  readonly body: string;
  /** The coordinator has something to do about it now. Otherwise it is woken only where the run waits for it. */
  readonly asksNow: boolean;
}

async function tellCoordinator(tx: Tx, context: Context, run: Run, news: CriterionNews): Promise<void> {
  const head = run.coordinatorName === null ? undefined : await tx.agents.byName(run.coordinatorName);
  if (head === undefined || hasEnded(head) || head.runId !== run.id) return;
  const { asksNow, ...words } = news;
  const wake = asksNow || (await waitsForCoordinator(tx, run));
  await post(tx, context, {
    ...fromCaller(context.caller),
    ...words,
    runId: run.id,
    address: head.name,
    recipients: [{ name: head.name, wake, reason: "the operator said something about its checklist" }],
    type: "status",
    priority: "normal",
  });
}

/** No other agent of the run is at work, and nothing of it lands. */
async function waitsForCoordinator(tx: Tx, { id: runId, coordinatorName }: Run): Promise<boolean> {
  const agents = newestPerName(await tx.agents.list({ runId }));
  if (agents.some((agent) => agent.name !== coordinatorName && !hasEnded(agent))) return false;
  return (await tx.merges.list({ runId, statuses: openMergeStatuses, limit: 1 })).length === 0;
}

/** The operator takes a waiver back: the criterion has to be met again. */
export const unwaiveCriterionOfRun: UseCase<OfRun & { readonly number: number }, ChecklistReply> = {
  kind: "write",
  request: fields({ number: whole }, { runId: text }),
  operatorOnly: true,
  run: async (tx, context, { number, runId }) => {
    const found = await ownRun(tx, context.caller, runId, "take back a waiver of");
    if (!found.ok) return found;
    const run = found.value;
    const criterion = await findCriterion(tx, run, number);
    if (!criterion.ok) return criterion;
    if (criterion.value.waivedAt === null) return no(invalid("number", "is not waived", { value: String(number) }));
    await tx.criteria.put(takeWaiverBack(criterion.value));
    const { caller, now } = context;
    await record(tx, now, { ...byCaller(caller, run.id), type: "waiver_taken_back", data: { runId: run.id, number } });
    await tellCoordinator(tx, context, run, {
      subject: `criterion ${number} has to be met again`,
      body: `${caller.name} took the waiver of criterion ${number} back: ${criterion.value.text}\nSee that it is met, and show it: ov run criteria`,
      asksNow: true,
    });
    return listCriteria.run(tx, context, { runId: run.id });
  },
};

/** A criterion of the checklist by its number, also the objective that was not split. */
export async function findCriterion(tx: Tx, run: Run, number: number): Promise<Result<Criterion, Refusal>> {
  const { criteria } = await checklist(tx, run);
  const found = criteria.find((criterion) => criterion.number === number);
  return found === undefined ? no(notFound("criterion", String(number))) : ok(found);
}
