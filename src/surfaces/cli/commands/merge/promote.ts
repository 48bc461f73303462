import { ok } from "../../../../domain/result.ts";
import { shellWord } from "../../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { LostLanding } from "../../../../usecases/merge/lost-landings.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler, Paint } from "../../command.ts";
import { text } from "../../given.ts";
import { errorLine, hintLine, successLine, warningLine } from "../../marks.ts";
import { opJson } from "./log.ts";
import { lockLines } from "./result.ts";
import { settledOp } from "./wait-op.ts";

/** Brings what a run has landed to the branch it is meant for, and waits until that is done. */
export const promote: Handler = async ({ app, flags, io }) => {
  const run = text(flags.run);
  const request = { runId: run, target: text(flags.target) };
  const doubts = await app.call("merge.listPromotionDoubts", request);
  if (!doubts.ok) return doubts;
  const { unverified } = doubts.value;
  const elsewhere = doubts.value.elsewhere.map((one) =>
    hintLine(io.paint, `more waits for ${visibleLine(one.target)}: ${promoteCommand(one)}`),
  );
  // The question comes before the request, because the engine acts on a request at once.
  if (unverified.length > 0) {
    const into = visibleLine(doubts.value.target);
    io.say(warningLine(io.paint, `NOT VERIFIED, and about to move ${into}: ${visibleLine(unverified.join("; "))}`));
    const mayAsk = !io.yes && !io.json && process.stdin.isTTY === true;
    if (mayAsk && (await io.confirm("Promote all the same?")) !== true) {
      return ok({ json: { promote: null, cancelled: true, moved: false }, text: "Nothing was moved." });
    }
  }
  const asked = await app.call("merge.requestPromotion", request);
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
        lost: lost.map(({ branch, opId, commit, head }) => ({ branchName: branch, operation: opId, commit, head })),
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
  const settled = await settledOp(app, io, asked.value.promote);
  if (!settled.ok) return settled;
  const { op, entries, problem } = settled.value;
  const { landing = "", target = "", cause = null, removedLocks = [] } = op.request;
  const locks = lockLines(io.paint, removedLocks);
  const json = { promote: opJson(op, entries), landingBranch: landing, targetBranch: target, removedLocks };
  const again = promoteCommand({ runId: run ?? null, target: request.target ?? null });
  if (problem !== null) {
    return ok({
      json: { ...json, success: false, errorMessage: problem, cause, moved: false },
      text: [
        ...locks,
        errorLine(io.paint, `${visibleLine(target)} was not moved, and nothing was changed: ${visibleLine(problem)}`),
        hintLine(io.paint, `then promote again: ${again}`),
      ].join("\n"),
      exit: cause === "disk_full" ? exits.busy : exits.merge,
    });
  }
  const moved = op.beforeCommit !== op.afterCommit;
  const commit = op.afterCommit?.slice(0, 10) ?? "";
  const { beforeCommit: from, afterCommit: to } = op;
  const looked =
    moved && from !== null && to !== null
      ? await app.call("branch.listStaleSubmodules", { branch: target, from, to })
      : ok({ stale: [] });
  if (!looked.ok) return looked;
  const behind = looked.value.stale;
  return ok({
    json: { ...json, errorMessage: null, moved, unverified, submodulesBehind: behind },
    text: moved
      ? [
          ...locks,
          successLine(io.paint, `${visibleLine(target)} has everything of ${visibleLine(landing)} now:`, commit),
          ...behind.map(({ checkout, paths }) =>
            warningLine(io.paint, `not at their new commits yet: ${updateWords(checkout, paths)}`),
          ),
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

/** A run is named where there is one; without a run the branch that the work is meant for says it. */
function promoteCommand({ runId, target }: { readonly runId: string | null; readonly target: string | null }): string {
  if (runId !== null) return `ov merge promote --run ${runId}`;
  return target === null ? "ov merge promote" : `ov merge promote --target ${shellWord(target)}`;
}

/** Somebody reset or rebased the target; it may have been on purpose, so the work only comes back when asked for. */
function lostLines(paint: Paint, target: string, lost: readonly LostLanding[]): readonly string[] {
  return lost.flatMap(({ branch, opId, head, hasBranch }) => {
    const land = `ov merge --branch ${shellWord(branch)}`;
    const command = hasBranch ? land : `git branch ${shellWord(branch)} ${head.slice(0, 12)}, then: ${land}`;
    const what = `${visibleLine(branch)} landed (${opId}), and ${visibleLine(target)} no longer has it`;
    return [warningLine(paint, what), hintLine(paint, `to bring it back: ${command}`)];
  });
}

/** Promotion moves files; a submodule follows only by a command of git's. */
function updateWords(checkout: string, paths: readonly string[]): string {
  const update = `git -C ${shellWord(checkout)} submodule update -- ${paths.map(shellWord).join(" ")}`;
  return `${paths.map(visibleLine).join(", ")}; bring them there: ${visibleLine(update)}`;
}
