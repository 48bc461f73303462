import { type MergeResult, mergeResult, mergeResultsView, mergeResultView } from "../../../contract/views/merge.ts";
import { awaitsApproval, isOpenMerge, type MergeEntry, verdictOf } from "../../../domain/merge/entry.ts";
import { causeWords, howWords, promoteCommand } from "../../../domain/merge/words.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { MergesUnderWay } from "../../../usecases/merge/follow.ts";
import type { QueuedMerge } from "../../../usecases/merge/read-merges.ts";
import { exits } from "../../shared/exits.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Io, Outcome, Paint } from "../command.ts";
import { isOn, text } from "../given.ts";
import { errorLine, hintLine, successLine, warningLine } from "../marks.ts";
import { leftOutcome, teller, untilAsked, untilLeft } from "../waiting.ts";
import { dryRunAll, dryRunBranch, dryRunCommit } from "./merge-plan.ts";
import { queueNewer, settleRest } from "./merge-queue.ts";
import { differenceLines, paintedVerdict } from "./merge-render.ts";

export const merge: Handler = (call) => {
  const branch = text(call.flags.branch);
  if (branch !== undefined) return one(call, branch);
  if (isOn(call.flags.all)) return all(call);
  return Promise.resolve(
    no(invalid("--branch or --all", "must say what to merge", { allowed: ["--branch <name>", "--all"] })),
  );
};

async function one(call: Call, branch: string): Promise<Result<Outcome, Refusal>> {
  const { app, flags, io } = call;
  const isDryRun = isOn(flags["dry-run"]);
  if (isDryRun && isOn(flags["commit-rest"])) {
    const dry = await dryRunCommit(call, branch);
    if (!dry.ok) return dry;
    if (dry.value !== undefined) return ok(dry.value);
  }
  const rest = isDryRun ? ok(undefined) : await settleRest(call, [branch]);
  if (!rest.ok) return rest;
  const request = await app.call("merge.planAdd", {
    branch,
    targetBranch: text(flags.into),
    listsFiles: isDryRun,
  });
  if (!request.ok) return request;
  if (isDryRun) return dryRunBranch(call, request.value);
  // A person who names a branch does not want to wait for the rest of the queue.
  const order = { ...request.value, approve: true, priority: 0 };
  const { asked: added, isLeft } = await untilAsked(() => app.call("merge.add", order));
  if (!added.ok) return added;
  const { entry } = added.value;
  const resumed = entry.status === "blocked" ? await app.call("merge.resume", { of: String(entry.id) }) : added;
  if (!resumed.ok) return resumed;
  const settled = isLeft ? ok(undefined) : await settledMerges(app, io, [entry.id]);
  if (!settled.ok) return settled;
  if (settled.value === undefined) return ok(leftOutcome("the merge", "see it later: ov merge list"));
  const [result] = settled.value;
  if (result === undefined) throw new Error(`merge ${entry.id} is gone`);
  return ok({
    json: mergeResultView(result),
    text: resultLines(io.paint, result).join("\n"),
    quietText: "",
    ...exitOf(settled.value),
  });
}

async function all(call: Call): Promise<Result<Outcome, Refusal>> {
  const { app, flags, io } = call;
  const found = await openMerges(app, text(flags.into));
  if (!found.ok) return found;
  if (isOn(flags["dry-run"])) return dryRunAll(call, found.value);
  if (found.value.length === 0) {
    const hint = hintLine(io.paint, "add a branch: ov merge add <branch>, or see what has landed: ov merge log");
    return ok({ json: mergeResultsView([]), text: `Nothing waits for being merged.\n${hint}`, quietText: "" });
  }
  const rest = await settleRest(
    call,
    found.value.map(({ entry }) => entry.branch),
  );
  if (!rest.ok) return rest;
  const newer = await queueNewer(app, rest.value, text(flags.into));
  if (!newer.ok) return newer;
  if (rest.value.length > 0) return all({ ...call, flags: { ...flags, "commit-rest": false, "leave-rest": true } });
  const ids = found.value.map(({ entry }) => entry.id);
  const { asked, isLeft } = await untilAsked(() => approveEach(app, found.value));
  if (!asked.ok) return asked;
  const settled = isLeft ? ok(undefined) : await settledMerges(app, io, ids);
  if (!settled.ok) return settled;
  if (settled.value === undefined) return ok(leftOutcome("the merging", "see it later: ov merge list"));
  const results = settled.value;
  const view = mergeResultsView(results);
  const waiting = results.filter(waitsForWord).length;
  const counts = [
    `${view.successCount} merged`,
    `${view.failCount - waiting} failed`,
    ...(waiting === 0 ? [] : [`${waiting} waiting for approval`]),
    `${results.length} in all`,
  ].join(", ");
  return ok({
    json: view.success ? view : { ...view, error: counts },
    text: [...results.flatMap((result) => resultLines(io.paint, result)), counts].join("\n"),
    quietText: "",
    ...exitOf(results),
  });
}

const waitsForWord = ({ success, entry }: MergeResult): boolean => !success && awaitsApproval(entry);

/** A branch that waits for a person's word has met no conflict and has not failed. */
function exitOf(results: readonly MergeResult[]): Pick<Outcome, "exit"> {
  const left = results.filter(({ success }) => !success);
  if (left.length === 0) return {};
  return { exit: left.every(waitsForWord) ? exits.busy : exits.merge };
}

/** Entries on their way. With `into`, only those meant for that branch, on whichever branch they wait meanwhile. */
async function openMerges(app: App, into: string | undefined): Promise<Result<readonly QueuedMerge[], Refusal>> {
  const listed = await app.call("merge.list", {});
  if (!listed.ok) return listed;
  if (into === undefined) return ok(listed.value.entries);
  const target = await app.call("branch.find", { branch: into });
  if (!target.ok) return target;
  const landings = await app.call("merge.landings", { target: into });
  if (!landings.ok) return landings;
  const targets = [into, ...landings.value.branches];
  return ok(listed.value.entries.filter(({ entry }) => targets.includes(entry.targetBranch)));
}

/** Approves the branches that were listed. A branch that was announced since waits for its own approval. */
async function approveEach(app: App, views: readonly QueuedMerge[]): Promise<Result<unknown, Refusal>> {
  const numbers = views.map(({ entry }) => entry.id);
  const approved = await app.call("merge.recordApproval", { all: true, numbers });
  if (!approved.ok) return approved;
  for (const { entry } of views) {
    if (entry.status !== "blocked") continue;
    const resumed = await app.call("merge.resume", { of: String(entry.id) });
    // It may have been taken up or have ended since it was listed; what became of it is told in the end.
    if (!resumed.ok && resumed.refusal.kind !== "merge-status") return resumed;
  }
  return ok(undefined);
}

/** Waits until the engine has ended each of these entries, and reports progress meanwhile. Undefined after Ctrl-C. */
async function settledMerges(
  app: App,
  io: Io,
  ids: readonly number[],
): Promise<Result<readonly MergeResult[] | undefined, Refusal>> {
  const tell = teller(io);
  const onItem = ({ left, fullDisk }: MergesUnderWay): void => {
    const doing = left.map((entry) => `${visibleLine(entry.branch)} ${progressWords(entry)}`);
    tell(fullDisk ?? `${doing.join(", ")} (Ctrl-C stops only the waiting; see it later: ov merge list)`);
  };
  const ended = await untilLeft((signal) => app.follow("merge.follow", { ids }, { onItem, signal }));
  if (ended === undefined) return ok(undefined);
  if (!ended.ok) return ended;
  const { merges, standing } = ended.value;
  return ok(merges.map((outcome) => mergeResult(outcome, standing[outcome.entry.id])));
}

function progressWords({ status, targetBranch, causeDetail }: MergeEntry): string {
  const onto = visibleLine(targetBranch);
  if (status === "merging") return `is being merged with ${onto}`;
  return status === "gating"
    ? `is being checked by the gates before it lands on ${onto}`
    : waitingWords(causeDetail?.message);
}

const waitingWords = (trouble: string | undefined): string =>
  trouble === undefined
    ? "waits for its turn"
    : `waits for its turn; the last try failed and is repeated: ${visibleLine(trouble)}`;

/** A result for a person: the branch, the outcome, and the next command to type. */
function resultLines(paint: Paint, result: MergeResult): readonly string[] {
  const { entry, meantFor, success, tier, conflictFiles, errorMessage, warnings } = result;
  const verdict = paintedVerdict(paint, verdictOf(entry));
  const branch = visibleLine(entry.branch);
  return [
    success
      ? `${successLine(paint, "Merged", branch)} (${howWords({ tier, strategy: entry.strategy })}) ${verdict}`
      : errorLine(paint, `${isOpenMerge(entry) ? "Not merged yet" : "Failed"}: ${paint.accent(branch)} ${verdict}`),
    `  ${aboutLine(entry, meantFor)}`,
    ...(conflictFiles.length === 0 ? [] : [`  conflicts: ${conflictFiles.map(visibleLine).join(", ")}`]),
    ...(errorMessage === null
      ? []
      : [`  ${entry.cause === null ? "" : `${causeWords[entry.cause]}: `}${visibleLine(errorMessage)}`]),
    ...warnings.map((warning) => `  ${warningLine(paint, visibleLine(warning))}`),
    ...(awaitsApproval(entry) ? differenceLines(entry) : []),
    ...nextSteps(result).map((next) => hintLine(paint, next)),
  ];
}

function aboutLine(entry: MergeEntry, meantFor: string | null): string {
  const commit = entry.resultCommit === null ? "" : ` as ${entry.resultCommit.slice(0, 10)}`;
  const into = `into ${entry.targetBranch}${commit}${meantFor === null ? "" : `, meant for ${meantFor}`}`;
  const files = entry.filesModified.length;
  const facts = [
    ...(entry.agentName === null ? [] : [`agent ${entry.agentName}`]),
    ...(entry.taskId === null ? [] : [`task ${entry.taskId}`]),
    `${files} ${files === 1 ? "file" : "files"}`,
    into,
  ];
  return visibleLine(facts.join(", "));
}

function nextSteps({ entry, meantFor, promotion }: MergeResult): readonly string[] {
  if (entry.status === "merged") {
    return meantFor === null ? [] : [`to have it on ${visibleLine(meantFor)}: ${promoteCommand(promotion)}`];
  }
  if (awaitsApproval(entry)) {
    const all = entry.causeDetail?.difference === undefined ? [] : [`see all of it: ov merge diff ${entry.id}`];
    return [...all, `to let it land: ov merge approve ${entry.id}`];
  }
  const see = `see what happened: ov merge show ${entry.id}`;
  const { gate, logPath } = entry.causeDetail ?? {};
  const log = gate === undefined ? [] : [`gate ${gate}${logPath === undefined ? "" : `, output in ${logPath}`}`];
  return entry.status === "superseded" || entry.status === "cancelled"
    ? [see]
    : [
        ...log.map(visibleLine),
        see,
        `try it again: ov merge ${entry.status === "blocked" ? "resume" : "retry"} ${entry.id}`,
      ];
}
