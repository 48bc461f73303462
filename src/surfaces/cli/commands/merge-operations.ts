import { lostLandingView, operationView, undoPlanView } from "../../../contract/views/merge.ts";
import { verdictOf } from "../../../domain/merge/entry.ts";
import type { MergeOp } from "../../../domain/merge/operation.ts";
import { promoteCommand } from "../../../domain/merge/words.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { FollowedOperation, OperationUnderWay } from "../../../usecases/merge/follow.ts";
import type { LostLanding } from "../../../usecases/merge/landing/lost-landings.ts";
import type { PromotionOutlook } from "../../../usecases/merge/landing/promotion.ts";
import type { Undoable } from "../../../usecases/merge/landing/request-undo.ts";
import { exits } from "../../shared/exits.ts";
import type { App } from "../app.ts";
import type { Handler, Io, Paint } from "../command.ts";
import { isOn, text } from "../given.ts";
import { errorLine, hintLine, successLine, warningLine } from "../marks.ts";
import { leftOutcome, teller, untilAsked, untilLeft } from "../waiting.ts";
import { lockLines, paintedVerdict } from "./merge-render.ts";

/** Has the target all that has landed there, so that nothing would move? */
async function isPromoted(app: App, { target, landing }: PromotionOutlook): Promise<boolean> {
  if (landing === null) return true;
  const found = await app.call("branch.findStart", { target, runId: landing.runId });
  return found.ok && found.value.promoted.includes(landing.branch);
}

/** Brings what a run has landed to the branch it is meant for, and waits until that is done. */
export const promote: Handler = async ({ app, flags, io }) => {
  const run = text(flags.run);
  const request = { runId: run, target: text(flags.target) };
  const doubts = await app.call("merge.listPromotionDoubts", request);
  if (!doubts.ok) return doubts;
  const { unverified, doubted } = doubts.value;
  const elsewhere = doubts.value.elsewhere.map((one) =>
    hintLine(io.paint, `more waits for ${visibleLine(one.target)}: ${promoteCommand(one)}`),
  );
  const moves = unverified.length + doubted.length > 0 && !(await isPromoted(app, doubts.value));
  if (moves) for (const doubt of doubted) io.say(warningLine(io.paint, visibleLine(doubt)));
  // The question comes before the request, because the engine acts on a request at once.
  if (unverified.length > 0 && moves) {
    const into = visibleLine(doubts.value.target);
    io.say(warningLine(io.paint, `NOT VERIFIED, and about to move ${into}: ${visibleLine(unverified.join("; "))}`));
    const mayAsk = !io.yes && !io.json && process.stdin.isTTY === true;
    if (mayAsk && (await io.confirm("Promote all the same?")) !== true) {
      return ok({ json: { promote: null, cancelled: true, moved: false }, text: "Nothing was moved." });
    }
  }
  const { asked, isLeft } = await untilAsked(() => app.call("merge.requestPromotion", request));
  if (!asked.ok) return asked;
  if (asked.value.promote === null) {
    const { nothing, target } = asked.value;
    if (request.target !== undefined) {
      const head = await app.call("branch.find", { branch: request.target });
      if (!head.ok) return head;
    }
    const gone = await app.call("merge.listLost", { target });
    if (!gone.ok) return gone;
    const { lost } = gone.value;
    return ok({
      json: {
        promote: null,
        landingBranch: null,
        targetBranch: target,
        errorMessage: null,
        moved: false,
        lost: lost.map(lostLandingView),
      },
      text: [
        `Nothing to promote: ${visibleLine(nothing)}.`,
        ...lostLines(io.paint, target, lost),
        ...elsewhere,
        hintLine(io.paint, "see what has landed: ov merge log"),
      ].join("\n"),
      quietText: "",
    });
  }
  const settled = isLeft ? ok(undefined) : await settledOp(app, io, asked.value.promote);
  if (!settled.ok) return settled;
  if (settled.value === undefined) return ok(leftOutcome("the promotion", "see it later: ov merge log"));
  const { op, entries, problem } = settled.value;
  const { landing = "", target = "", cause = null, removedLocks = [] } = op.request;
  const locks = lockLines(io.paint, removedLocks);
  const json = { promote: operationView(op, entries), landingBranch: landing, targetBranch: target, removedLocks };
  const again = promoteCommand({ runId: run ?? null, target: request.target ?? null });
  if (problem !== null) {
    return ok({
      json: { ...json, success: false, errorMessage: problem, cause, moved: false },
      text: [
        ...locks,
        errorLine(io.paint, `${visibleLine(target)} was not moved, and nothing was changed: ${visibleLine(problem)}`),
        hintLine(io.paint, `then promote again: ${again}`),
      ].join("\n"),
      exit: exitAfter(op),
    });
  }
  const moved = op.beforeCommit !== op.afterCommit;
  const commit = op.afterCommit?.slice(0, 10) ?? "";
  const looked = await submodulesBehind(app, op);
  if (!looked.ok) return looked;
  const behind = looked.value.stale;
  return ok({
    json: { ...json, errorMessage: null, moved, unverified, submodulesBehind: behind },
    text: moved
      ? [
          ...locks,
          successLine(io.paint, `${visibleLine(target)} has everything of ${visibleLine(landing)} now:`, commit),
          ...behindLines(io.paint, behind),
          hintLine(io.paint, `to take it back: ov merge undo ${op.id}`),
          ...elsewhere,
        ].join("\n")
      : [
          `Nothing to promote: ${visibleLine(target)} had everything of ${visibleLine(landing)} already.`,
          ...elsewhere,
        ].join("\n"),
    quietText: commit,
  });
};

/** A full disk and a held lock pass: the same command may be typed again. */
const exitAfter = ({ request: { cause } }: MergeOp): number =>
  cause === "disk_full" || cause === "locked" ? exits.busy : exits.merge;

/** The target was reset or rebased; it may have been on purpose, so the work only comes back when asked for. */
function lostLines(paint: Paint, target: string, lost: readonly LostLanding[]): readonly string[] {
  return lost.flatMap(({ branch, opId, head, hasBranch }) => {
    const land = `ov merge --branch ${shellWord(branch)}`;
    const command = hasBranch ? land : `git branch ${shellWord(branch)} ${head.slice(0, 12)}, then: ${land}`;
    const what = `${visibleLine(branch)} landed (${opId}), and ${visibleLine(target)} no longer has it`;
    return [warningLine(paint, what), hintLine(paint, `to bring it back: ${command}`)];
  });
}

/** The submodules in checkouts of a moved branch that are not where the branch has them now. */
async function submodulesBehind(app: App, { ref, beforeCommit: from, afterCommit: to }: MergeOp) {
  if (from === null || to === null || from === to) return ok({ stale: [] });
  return app.call("branch.listStaleSubmodules", { branch: ref.replace(/^refs\/heads\//, ""), from, to });
}

/** A promotion and its undo move files; a submodule follows only by a command of git's. */
function behindLines(
  paint: Paint,
  behind: readonly { readonly checkout: string; readonly paths: readonly string[] }[],
): readonly string[] {
  return behind.map(({ checkout, paths }) => {
    const update = `git -C ${shellWord(checkout)} submodule update -- ${paths.map(shellWord).join(" ")}`;
    const where = `${paths.map(visibleLine).join(", ")}; bring them there: ${visibleLine(update)}`;
    return warningLine(paint, `not at their new commits yet: ${where}`);
  });
}

/** Shows what would be taken back, asks, and waits until the engine has done it. */
export const undo: Handler = async ({ app, args, flags, io }) => {
  const of = text(args.what);
  const last = isOn(flags.last);
  if (last && of !== undefined) return no(invalid("--last", "and a name are mutually exclusive"));
  if (!last && of === undefined) {
    return no(
      invalid("ov merge undo", "needs to know what to take back", {
        allowed: ["an operation", "a branch", "a number", "--last"],
      }),
    );
  }
  const planned = await app.call("merge.planUndo", { of, last });
  if (!planned.ok) return planned;
  for (const line of planLines(io.paint, planned.value)) io.say(line);
  if (!io.yes) {
    const answer = io.json ? undefined : await io.confirm(questionFor(planned.value));
    if (answer === undefined) return no(invalid("ov merge undo", "needs --yes where no terminal can ask you"));
    if (!answer) return ok({ json: { ...undoPlanView(planned.value), cancelled: true }, text: "Nothing was changed." });
  }
  const request = { of: shown(planned.value), requeue: isOn(flags.requeue) };
  const { asked, isLeft } = await untilAsked(() => app.call("merge.requestUndo", request));
  if (!asked.ok) return asked;
  const settled = isLeft ? ok(undefined) : await settledOp(app, io, asked.value.undo);
  if (!settled.ok) return settled;
  if (settled.value === undefined) return ok(leftOutcome("the undoing", "see it later: ov merge log"));
  const { op, entries, problem } = settled.value;
  const { cause = null, removedLocks = [] } = op.request;
  const locks = lockLines(io.paint, removedLocks);
  const json = { ...undoPlanView(asked.value), undo: operationView(op, entries), removedLocks };
  if (problem !== null) {
    return ok({
      json: { ...json, success: false, errorMessage: problem, cause },
      text: [...locks, errorLine(io.paint, `Not done: ${visibleLine(problem)}`, "nothing was changed")].join("\n"),
      exit: exitAfter(op),
    });
  }
  const { promoted, promotion } = asked.value;
  // Entries that landed later are taken out along with it and brought in again; only those that were meant wait.
  const requeued = entries.filter(({ id }) => op.queueIds.includes(id));
  const { beforeCommit: from, afterCommit: to } = op;
  const other = promoted ?? undefined;
  const changed =
    from === null || to === null
      ? ok({ files: [], otherDiffers: false })
      : await app.call("branch.listMovedFiles", { from, to, other });
  if (!changed.ok) return changed;
  const { files, otherDiffers } = changed.value;
  const looked = await submodulesBehind(app, op);
  if (!looked.ok) return looked;
  const behind = looked.value.stale;
  // The branch may have been deleted since, or a person made the same change there.
  const stillIn = otherDiffers ? promoted : null;
  return ok({
    json: {
      ...json,
      errorMessage: null,
      stillIn,
      files: files.slice(0, mostInJson),
      fileCount: files.length,
      submodulesBehind: behind,
    },
    text: [
      ...locks,
      successLine(io.paint, `${doneWords(asked.value)}:`, op.id),
      ...behindLines(io.paint, behind),
      ...fileLines(files, `git diff --stat ${short(from)} ${short(to)}`),
      ...(stillIn === null
        ? []
        : [
            warningLine(
              io.paint,
              stillInWords(asked.value, stillIn),
              `to change it there too: ${promoteCommand(promotion)}`,
            ),
          ]),
      ...(op.request.requeue === true
        ? requeued.map(({ branch }) =>
            hintLine(
              io.paint,
              `${visibleLine(branch)} is in the queue again and waits for approval; to let it land: ov merge approve ${shellWord(branch)}`,
            ),
          )
        : []),
      hintLine(io.paint, `to undo this: ov merge undo ${op.id}`),
    ].join("\n"),
    quietText: op.id,
  });
};

const mostInJson = 1000;
const mostShown = 10;

/**
 * The files that it changed, so that the reader need not look them up; a long list is cut, with the command that shows
 * all of it.
 */
function fileLines(files: readonly string[], all: string): readonly string[] {
  if (files.length === 0) return [];
  const more = files.length > mostShown ? [`    and ${files.length - mostShown} more: ${all}`] : [];
  const heading = files.length === 1 ? "  1 file changed by this:" : `  ${files.length} files changed by this:`;
  return [heading, ...files.slice(0, mostShown).map((file) => `    ${visibleLine(file)}`), ...more];
}

/** The shown ids: "the last landing", or "the landing of a branch", may be another one by now. */
const shown = ({ op, entries, whole }: Undoable): string => (whole ? op.id : String(entries[0]?.id ?? op.id));

const questionFor = ({ op }: Undoable): string => {
  if (op.kind === "undo") return "Bring this back?";
  return op.kind === "promote" ? "Move it back?" : "Take this out?";
};

function doneWords({ op, entries }: Undoable): string {
  const branches = entries.map((entry) => visibleLine(entry.branch)).join(", ");
  const ref = visibleLine(op.ref.replace(/^refs\/heads\//, ""));
  if (op.kind === "undo" && entries.length === 0) return `Moved ${ref} to ${short(op.beforeCommit)} again`;
  if (op.kind === "undo") return `Brought ${branches} back to ${ref}`;
  if (op.kind === "promote") return `Moved ${ref} back to ${short(op.beforeCommit)}`;
  return `Took ${branches} out of ${ref}`;
}

/** The landing branch is one thing, the branch that it was promoted to is another. */
function stillInWords({ op }: Undoable, target: string): string {
  const changed = op.kind === "undo" ? "does not have it again yet" : "still has it, because it was promoted";
  return `${visibleLine(target)} ${changed}`;
}

function planLines(paint: Paint, { op, entries, whole }: Undoable): readonly string[] {
  const ref = visibleLine(op.ref.replace(/^refs\/heads\//, ""));
  const verb = op.kind === "undo" ? "Brings back to" : "Takes out of";
  if (op.kind === "promote") return [`Moves ${ref} back to ${op.beforeCommit?.slice(0, 10)}, with its files.`];
  // It took a promotion back, which has no branches of its own.
  if (op.kind === "undo" && entries.length === 0) {
    return [`Moves ${ref} to ${short(op.beforeCommit)} again, with its files (operation ${op.id}).`];
  }
  const rest = whole ? "" : `; the rest of ${op.id} stays`;
  return [
    `${verb} ${ref} (operation ${op.id}${rest}):`,
    ...entries.map(
      (entry) =>
        `  ${paint.red(op.kind === "undo" ? "+" : "-")} ${paint.accent(visibleLine(entry.branch))} ${paintedVerdict(paint, verdictOf(entry))}`,
    ),
  ];
}

const short = (commit: string | null): string => commit?.slice(0, 10) ?? "where it was";

/**
 * Waits until the engine has done the requested operation, or has found that it cannot, and reports progress meanwhile.
 * Undefined after Ctrl-C.
 */
export async function settledOp(
  app: App,
  io: Io,
  { id }: MergeOp,
): Promise<Result<FollowedOperation | undefined, Refusal>> {
  const tell = teller(io);
  const onItem = ({ op, fullDisk }: OperationUnderWay): void => tell(fullDisk ?? goingOn(op));
  const ended = await untilLeft((signal) => app.follow("merge.followOperation", { id }, { onItem, signal }));
  return ended ?? ok(undefined);
}

/** What the engine does meanwhile, for a person who waits. */
function goingOn({ kind, ref, request, problem }: MergeOp): string {
  const { landing = "", target = "" } = request;
  const branch = visibleLine(ref.replace(/^refs\/heads\//, ""));
  const what =
    kind === "promote"
      ? `moving ${visibleLine(target)} forward to ${visibleLine(landing)}`
      : `taking it out of ${branch}, and checking what is left`;
  const failed = problem === null ? "" : `; the last try failed and is repeated: ${visibleLine(problem)}`;
  return `${what}${failed} (Ctrl-C stops only the waiting; see it later: ov merge log)`;
}
