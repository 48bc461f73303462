import type { Agent } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { criterionStatus, proofWords } from "../../domain/run/checklist.ts";
import type { OpenEnd } from "../../domain/run/open-ends.ts";
import { type Run, runFlag } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { sling } from "../agents/sling.ts";
import { openWait } from "../mail/waits.ts";
import { targetOf } from "../merge/landing/landing-target.ts";
import { answerTo } from "../operator/decisions.ts";
import type { Context } from "../usecase.ts";
import { askWhetherWithout, isAboutParked, questionsAbout, saysWithout } from "./review-question.ts";
import { lastReviewers, verdictOf } from "./verdict-on-whole.ts";
import { answerOf, endOf, verdictStanding } from "./verdict-standing.ts";

/**
 * How the last review of a run stands: the reading of the whole difference against the checklist by a reviewer of the
 * coordinator's, before the run ends.
 *
 *   done      none is needed, it passed on exactly what has landed and for the checklist as it is now, the operator
 *             waived every criterion that it found not met, or the operator does without it
 *   needed    what has landed was never read, or there are waivers or other evidence since it was read
 *   no        it found something, or the operator has to decide
 */
export type LastReview =
  | { readonly kind: "done" }
  | { readonly kind: "needed" }
  | {
      readonly kind: "no";
      readonly end: OpenEnd;
      /** The findings, for an operator who ends the run with them; null where nobody read the landed work. */
      readonly found: string | null;
    };

export async function lastReviewOf(
  tx: Tx,
  { settings }: Context,
  run: Run,
  landed: string | null | undefined,
): Promise<LastReview> {
  if (!settings.coordinator.lastReview || !run.checklist || landed == null) return { kind: "done" };
  const reviewers = await lastReviewers(tx, run);
  if ((await tasksWorkedOn(tx, run, reviewers)).size <= 1 && !(await restsOnOlder(tx, run))) return { kind: "done" };
  const last = reviewers.at(-1);
  const read = last?.baseCommit === landed ? await verdictStanding(tx, run, last) : undefined;
  if (read?.verdict === "pass") return { kind: "done" };
  const answer = read === undefined ? undefined : await answerOf(tx, run, read);
  if (answer === "waived") return { kind: "done" };
  const timesRead = reviewers.filter(({ baseCommit }) => baseCommit === landed).length;
  if (answer === "anew" && timesRead < mostReadings) return { kind: "needed" };
  if (read !== undefined) {
    const where = read.message === null ? `ov mail list --from ${read.by}` : `ov mail read ${read.message}`;
    const end = endOf(run, read);
    return { kind: "no", end, found: `${end.what}; its findings: ${where}` };
  }
  const asked = (await questionsAbout(tx, run)).at(-1);
  const word = asked === undefined ? undefined : await answerTo(tx, asked);
  if (asked !== undefined && word === undefined) {
    const what = "the last review could not be done, and the operator is asked whether to do without it";
    const fix = `end your turn: the decision wakes you; the operator may also type: ov run complete${runFlag(run.id)}`;
    return { kind: "no", end: { kind: "review", name: asked.id, what, fix }, found: null };
  }
  if (word !== undefined && saysWithout(word)) return { kind: "done" };
  return { kind: "needed" };
}

/** How often one commit is read. A coordinator that only names other evidence would have it read for ever. */
const mostReadings = 3;

/** Evidence that was there before the run shows nothing that the run did: somebody has to judge whether it is enough. */
const restsOnOlder = async (tx: Tx, { id }: Run): Promise<boolean> =>
  (await tx.criteria.of(id)).some((criterion) => criterion.proofUnchanged && criterionStatus(criterion) === "proved");

/** The tasks of a run, and those from elsewhere that its agents were given. The readings of the whole do not count. */
async function tasksWorkedOn(tx: Tx, { id: runId }: Run, reviewers: readonly Agent[]): Promise<ReadonlySet<string>> {
  const agents = (await tx.agents.list({ runId })).filter(({ capability }) => !isIn("persistent", capability));
  const given = agents.flatMap(({ taskId }) => taskId ?? []);
  const tasks = new Set([...(await tx.tasks.list({ runId })).map(({ id }) => id), ...given]);
  for (const { taskId } of reviewers) tasks.delete(taskId ?? "");
  return tasks;
}

/**
 * Starts a reviewer on the landed work. If it cannot start, the operator is asked. Returns a sentence for the caller.
 */
export async function startLastReview(tx: Tx, context: Context, run: Run): Promise<string> {
  const before = await lastReviewers(tx, run);
  const failed = before.at(-1);
  // The operator is asked about each reviewer that died, and may have one started anew by letting the run wait.
  const asked = (await questionsAbout(tx, run)).filter((question) => !isAboutParked(question));
  const wasAsked = asked.length >= before.length;
  const died = failed !== undefined && !wasAsked && (await verdictOf(tx, failed)) === undefined;
  const started = died ? undefined : await seat(tx, context, run);
  if (started?.ok === true) {
    return `${started.value} reads the whole difference against the checklist. A pass ends the run; what it finds wakes you`;
  }
  const why =
    started === undefined
      ? `${failed?.name} ended without a verdict`
      : `refused: ${started.refusal.kind.replaceAll("-", " ")}`;
  const question = await askWhetherWithout(tx, context, run, { why });
  if (question !== undefined) await openWait(tx, context.caller.name, question);
  return `the last review cannot be done (${why}); the operator is asked, and the answer wakes you`;
}

/** The agent and its task have one name, which neither an agent nor a task of any run has had. */
async function freeName(tx: Tx): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `last-review-${number}`;
    if ((await tx.agents.byName(name)) === undefined && (await tx.tasks.get(name)) === undefined) return name;
  }
}

async function seat(tx: Tx, context: Context, run: Run): Promise<Result<string, Refusal>> {
  const landing = await targetOf(tx, context, run.id);
  const name = await freeName(tx);
  const started = await sling.run(tx, context, {
    taskId: name,
    title: `Last review of ${run.id}`,
    name,
    capability: "reviewer",
    files: [],
    environment: {},
    baseBranch: landing,
    lastReview: true,
  });
  if (!started.ok) return started;
  const task = await tx.tasks.get(name);
  const against = run.targetBranch === null || run.targetBranch === landing ? null : run.targetBranch;
  const description = [
    `The whole work of the run is on ${landing}.`,
    against === null
      ? `See what landed with: git log ${landing}`
      : `Read all of it: git diff ${against}...${landing} (tool: diff with branch ${landing}).`,
    "Judge it against the objective and against each criterion of the checklist, one by one. Say for each whether what has",
    "landed meets it, and name what is missing or wrong as findings. pass only when every criterion is met.",
    "Begin a finding about a criterion that is not met with its number, as in `criterion 2: <what is missing>` (tool:",
    "criterion). That takes its proof back, and goes with no pass.",
    "Then read the objective once more, clause by clause: the criteria may leave something out. Name each clause that no",
    "criterion covers as a finding `the objective asks for <clause>, and no criterion covers it`: as a warning where what has",
    "landed does it all the same, else as an error, and then there is no pass.",
    ...(await changesToKnow(tx, run)),
    ...(await saidToShow(tx, run)),
    `Finish with a verdict on the branch ${landing}.`,
  ].join("\n");
  if (task !== undefined) await tx.tasks.update({ ...task, description });
  await tx.criteria.serve(
    name,
    run.id,
    (await tx.criteria.of(run.id)).map(({ number: one }) => one),
  );
  return ok(name);
}

/** An earlier change that a later one takes back stays in the checklist until the operator waives it. */
async function changesToKnow(tx: Tx, run: Run): Promise<readonly string[]> {
  const isChanged = (await tx.runs.changes(run.id)).some(({ criterion }) => criterion === null);
  return isChanged
    ? [
        "The operator changed the objective. A later change counts over an earlier one: what it takes back is no finding.",
      ]
    : [];
}

/**
 * The evidence of each criterion, so that the reviewer need not look for it. The reviewer judges whether it is enough.
 */
async function saidToShow(tx: Tx, run: Run): Promise<readonly string[]> {
  const lines = (await tx.criteria.of(run.id)).flatMap((criterion) => {
    const words = criterionStatus(criterion) === "proved" ? proofWords(criterion) : undefined;
    return words === undefined ? [] : [`- criterion ${criterion.number}: ${words}`];
  });
  if (lines.length === 0) return [];
  return ["Given as evidence, and only looked for, not judged (unchanged: no work of this run made it):", ...lines];
}
