import type { MergeEntry } from "../../../../domain/merge/entry.ts";
import type { MergeOp } from "../../../../domain/merge/operation.ts";
import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler, Paint } from "../../command.ts";
import { hintLine } from "../../marks.ts";
import { integer } from "../task/given.ts";
import { iso } from "../task/render.ts";
import { verdictOf, verdictWords } from "./render.ts";

export const log: Handler = async ({ app, flags, io }) => {
  const found = await app.call("merge.log", { limit: integer(flags.limit) });
  if (!found.ok) return found;
  const { operations, entries } = found.value;
  const nothing = `Nothing has landed yet.\n${hintLine(io.paint, "see what is on its way: ov merge list")}`;
  const lines = operations.map((op) => opLine(io.paint, op, entries));
  return ok({
    json: { operations: operations.map((op) => opJson(op, entries)) },
    text: operations.length === 0 ? nothing : lines.join("\n"),
    rows: {
      columns: ["ID", "WHEN", "KIND", "STATUS", "REF", "COMMIT", "BRANCHES", "UNDONE BY"],
      cells: operations.map((op) => [
        op.id,
        iso(op.createdAt) ?? "",
        op.kind,
        op.status,
        op.ref,
        op.afterCommit ?? "",
        membersOf(op, entries).join(", "),
        op.undoneBy ?? "",
      ]),
      objects: operations.map((op) => opJson(op, entries)),
    },
  });
};

/** An operation, with the branches it concerned as far as they are given. */
export function opJson(op: MergeOp, entries: readonly MergeEntry[]) {
  const { createdAt, updatedAt, seq: _, ...facts } = op;
  const concerned = entries.filter(({ id }) => op.queueIds.includes(id));
  return {
    ...facts,
    branches: concerned.map((entry) => ({ id: entry.id, branchName: entry.branch, verdict: verdictOf(entry) })),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

export function opLine(paint: Paint, op: MergeOp, entries: readonly MergeEntry[]): string {
  const what = {
    land: paint.green("landed"),
    undo: paint.magenta("undid"),
    promote: paint.cyan("promoted"),
    begin: paint.dim("began"),
    accept: paint.cyan("accepted what was found"),
    restore: paint.cyan("put back"),
  }[op.kind];
  const state = { intended: ` ${paint.yellow("(goes on)")}`, done: "", dropped: ` ${paint.red("(did not happen)")}` };
  const commit = op.afterCommit === null ? "" : ` ${paint.muted(op.afterCommit.slice(0, 10))}`;
  const members = membersOf(op, entries);
  const about = members.length === 0 ? "" : `: ${members.map(visibleLine).join(", ")}`;
  const undone = op.undoneBy === null ? "" : paint.dim(` taken back by ${op.undoneBy}`);
  const problem = op.problem === null ? "" : `\n    ${visibleLine(op.problem)}`;
  const ref = visibleLine(op.ref.replace(/^refs\/heads\//, ""));
  return `  ${paint.accent(op.id)}  ${paint.dim(iso(op.createdAt) ?? "")}  ${what} on ${ref}${commit}${state[op.status]}${about}${undone}${problem}`;
}

/** A landing says what was known about what it brought. */
const membersOf = (op: MergeOp, entries: readonly MergeEntry[]): readonly string[] =>
  entries
    .filter(({ id }) => op.queueIds.includes(id))
    .map((entry) => `${entry.branch} (${verdictWords(op.request.verdict ?? verdictOf(entry))})`);
