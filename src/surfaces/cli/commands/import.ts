import { importView } from "../../../contract/views/project.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { ImportedPart, ImportReport } from "../../../usecases/earlier/import-project.ts";
import type { Handler, Paint } from "../command.ts";
import { isOn } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";

export const importProject: Handler = async ({ app, flags, io }) => {
  const done = await app.call("import.run", { dryRun: isOn(flags["dry-run"]) });
  if (!done.ok) return done;
  return ok({ json: importView(done.value), text: lines(io.paint, done.value).join("\n"), quietText: "" });
};

/** More than these are only counted; `--json` has them all. */
const mostProblems = 20;

function lines(paint: Paint, { dryRun, parts, problems, settings, remarks }: ImportReport): readonly string[] {
  const taken = parts.reduce((sum, part) => sum + part.taken, 0);
  const shown = problems.slice(0, mostProblems);
  const more = problems.length - shown.length;
  return [
    headline(paint, dryRun, taken, problems.length),
    ...parts.map((part) => partLine(paint, part)),
    ...shown.map(({ where, problem }) => warningLine(paint, visibleLine(`${where} ${problem}`))),
    ...(more > 0 ? [warningLine(paint, `and ${more} more rows like these; ov import --json names them`)] : []),
    ...(taken > 0 ? [...settings, ...remarks] : []).map((line) => warningLine(paint, visibleLine(line))),
    ...(dryRun && taken > 0 ? ["", hintLine(paint, "take it over: ov import")] : []),
    ...(dryRun || taken === 0 ? [] : ["", "Next:", ...next.map((line) => hintLine(paint, line))]),
  ];
}

function headline(paint: Paint, dryRun: boolean, taken: number, problems: number): string {
  if (taken === 0 && problems > 0) return "Nothing new could be imported; nothing was changed";
  if (taken === 0) return "There is nothing new to import; nothing was changed";
  const rows = taken === 1 ? "1 row" : `${taken} rows`;
  return dryRun
    ? `Would import ${rows} of the earlier project:`
    : successLine(paint, `Imported ${rows} of the earlier project:`);
}

function partLine(paint: Paint, { source, rows, taken, before, present, leftOut }: ImportedPart): string {
  const skipped = rows - before - taken - present;
  const remarks = [
    ...(before > 0 ? [`${before} looked at before`] : []),
    ...(present > 0 ? [`${present} there already`] : []),
    ...(leftOut === null && skipped > 0 ? [`${skipped} not taken`] : []),
    ...(leftOut === null ? [] : [leftOut]),
  ];
  const note = remarks.length === 0 ? "" : paint.dim(` (${remarks.join(", ")})`);
  return `  ${source.padEnd(28)} ${String(taken).padStart(7)} of ${rows}${note}`;
}

const next = ["complete the project: ov init", "what waits for you: ov status", "what it cost: ov costs"];
