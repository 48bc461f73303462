import type { MergeEntry } from "../../../../domain/merge/entry.ts";
import type { MergeOp } from "../../../../domain/merge/operation.ts";
import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler, Paint } from "../../command.ts";
import { iso, shortTime } from "../../format.ts";
import { integer } from "../../given.ts";
import { wrap } from "../../layout.ts";
import { hintLine } from "../../marks.ts";
import { verdictOf, verdictWords } from "./render.ts";

export const log: Handler = async ({ app, flags, io }) => {
  const found = await app.call("merge.log", { limit: integer(flags.limit) });
  if (!found.ok) return found;
  const { operations, entries } = found.value;
  const nothing = `Nothing has landed yet.\n${hintLine(io.paint, "see what is on its way: ov merge list")}`;
  const lines = operations.map((op) => opLines(io.paint, op, entries));
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
    problem: op.status === "done" ? null : op.problem,
    branches: concerned.map((entry) => ({ id: entry.id, branchName: entry.branch, verdict: verdictOf(entry) })),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

/**
 * An operation in columns, and its subject on a line below: branches have long names, and a terminal has 80 columns.
 */
export function opLines(paint: Paint, op: MergeOp, entries: readonly MergeEntry[]): string {
  const what = {
    land: paint.green("landed  "),
    undo: paint.magenta("undid   "),
    promote: paint.cyan("promoted"),
    begin: paint.dim("began   "),
    accept: paint.cyan("accepted"),
    restore: paint.cyan(op.request.dropped === undefined ? "put back" : "replayed"),
  }[op.kind];
  const state = { intended: ` ${paint.yellow("(goes on)")}`, done: "", dropped: ` ${paint.red("(did not happen)")}` };
  const commit = op.afterCommit === null ? "" : `  ${paint.muted(op.afterCommit.slice(0, 10))}`;
  const when = paint.dim(shortTime(op.createdAt, Date.now()).padEnd(timeWidth));
  const ref = visibleLine(op.ref.replace(/^refs\/heads\//, ""));
  return [
    `  ${paint.accent(op.id)}  ${when}  ${what}${commit}${state[op.status]}`,
    `    on ${ref}`,
    ...membersOf(op, entries).map((member) => `    ${visibleLine(member)}`),
    ...(op.undoneBy === null ? [] : [paint.dim(`    taken back by ${op.undoneBy}`)]),
    ...(op.problem === null || op.status === "done"
      ? []
      : [`    ${wrap(visibleLine(op.problem), { width: 80, first: 4, indent: 4 })}`]),
  ].join("\n");
}

/** The width of `Nov 14 14:03`: most operations are of this year. */
const timeWidth = 12;

/** A landing says what was known about what it brought. */
const membersOf = (op: MergeOp, entries: readonly MergeEntry[]): readonly string[] =>
  entries
    .filter(({ id }) => op.queueIds.includes(id))
    .map((entry) => `${entry.branch} (${verdictWords(op.request.verdict ?? verdictOf(entry))})`);
