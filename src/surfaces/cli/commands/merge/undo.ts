import { invalid } from "../../../../domain/refusal.ts";
import { no, ok } from "../../../../domain/result.ts";
import { shellWord } from "../../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Undoable } from "../../../../usecases/merge/request-undo.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler, Paint } from "../../command.ts";
import { isOn, text } from "../../given.ts";
import { errorLine, hintLine, successLine, warningLine } from "../../marks.ts";
import { opJson } from "./log.ts";
import { entryJson, paintedVerdict, verdictOf } from "./render.ts";
import { lockLines, promoteWith } from "./result.ts";
import { settledOp } from "./wait-op.ts";

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
    if (answer === undefined) return no(invalid("ov merge undo", "needs --yes where nobody can be asked"));
    if (!answer) return ok({ json: { ...planJson(planned.value), cancelled: true }, text: "Nothing was changed." });
  }
  const asked = await app.call("merge.requestUndo", { of: shown(planned.value), requeue: isOn(flags.requeue) });
  if (!asked.ok) return asked;
  const settled = await settledOp(app, io, asked.value.undo);
  if (!settled.ok) return settled;
  const { op, entries, problem } = settled.value;
  const { removedLocks = [] } = op.request;
  const locks = lockLines(io.paint, removedLocks);
  const json = { ...planJson(asked.value), undo: opJson(op, entries), removedLocks };
  if (problem !== null) {
    return ok({
      json: { ...json, success: false, errorMessage: problem },
      text: [...locks, errorLine(io.paint, `Not done: ${visibleLine(problem)}`, "nothing was changed")].join("\n"),
      exit: exits.merge,
    });
  }
  const { promoted, promoteFlags } = asked.value;
  const { beforeCommit: from, afterCommit: to } = op;
  const other = promoted ?? undefined;
  const changed =
    from === null || to === null
      ? ok({ files: [], otherDiffers: false })
      : await app.call("branch.listMovedFiles", { from, to, other });
  if (!changed.ok) return changed;
  const { files, otherDiffers } = changed.value;
  // The branch may have been deleted since, or a person made the same change there.
  const stillIn = otherDiffers ? promoted : null;
  return ok({
    json: { ...json, errorMessage: null, stillIn, files: files.slice(0, mostInJson), fileCount: files.length },
    text: [
      ...locks,
      successLine(io.paint, `${doneWords(asked.value)}:`, op.id),
      ...fileLines(files, `git diff --stat ${short(from)} ${short(to)}`),
      ...(stillIn === null
        ? []
        : [
            warningLine(
              io.paint,
              stillInWords(asked.value, stillIn),
              `to change it there too: ${promoteWith(promoteFlags)}`,
            ),
          ]),
      ...(op.request.requeue === true
        ? entries.map(({ branch }) =>
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

/** What changed by it, so that nobody has to look it up; a long list is cut, with the command that shows all of it. */
function fileLines(files: readonly string[], all: string): readonly string[] {
  if (files.length === 0) return [];
  const more = files.length > mostShown ? [`    and ${files.length - mostShown} more: ${all}`] : [];
  const heading = files.length === 1 ? "  1 file changed by this:" : `  ${files.length} files changed by this:`;
  return [heading, ...files.slice(0, mostShown).map((file) => `    ${visibleLine(file)}`), ...more];
}

/** By the ids that were shown: what is the last landing, or the landing of a branch, may be another one by now. */
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

const planJson = ({ op, entries, whole }: Undoable) => ({
  operation: opJson(op, entries),
  entries: entries.map(entryJson),
  whole,
});
