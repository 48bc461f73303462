import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler } from "../../command.ts";
import { errorLine, hintLine, successLine } from "../../marks.ts";
import { text } from "../task/given.ts";
import { opJson } from "./log.ts";
import { settledOp } from "./wait-op.ts";

/** Brings what a run has landed to the branch it is meant for, and waits until that is done. */
export const promote: Handler = async ({ app, flags, io }) => {
  const asked = await app.call("merge.request-promote", { runId: text(flags.run) });
  if (!asked.ok) return asked;
  const settled = await settledOp(app, io, asked.value.promote);
  if (!settled.ok) return settled;
  const { op, entries, problem } = settled.value;
  const { landing = "", target = "" } = op.request;
  const json = { promote: opJson(op, entries), landingBranch: landing, targetBranch: target };
  if (problem !== null) {
    return ok({
      json: { ...json, success: false, errorMessage: problem },
      text: [
        errorLine(io.paint, `${visibleLine(target)} was not moved: ${visibleLine(problem)}`),
        hintLine(io.paint, "when that is out of the way: ov merge promote"),
      ].join("\n"),
      exit: exits.merge,
    });
  }
  const moved = op.beforeCommit !== op.afterCommit;
  const commit = op.afterCommit?.slice(0, 10) ?? "";
  return ok({
    json: { ...json, errorMessage: null, moved },
    text: moved
      ? successLine(io.paint, `${visibleLine(target)} has everything of ${visibleLine(landing)} now:`, commit)
      : `${visibleLine(target)} had everything of ${visibleLine(landing)} already.`,
    quietText: commit,
  });
};
