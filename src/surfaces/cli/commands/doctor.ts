import {
  companionsView,
  companionView,
  examinationView,
  fixReportView,
  versionsView,
} from "../../../contract/views/doctor.ts";
import { type DoctorCategory, type DoctorCheck, doctorCategories } from "../../../domain/consistency/check.ts";
import { invalid } from "../../../domain/refusal.ts";
import { no, ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { FixReport, FixResult } from "../../../usecases/doctor/fix.ts";
import { exits } from "../../shared/exits.ts";
import { counted } from "../../shared/format.ts";
import type { Handler, Io, Outcome, Rows } from "../command.ts";
import { isOn, text, texts } from "../given.ts";
import { errorLine, hintLine, successLine, warningLine } from "../marks.ts";
import { table } from "../table.ts";

export const doctor: Handler = async ({ app, io: terminal, flags, args }) => {
  const io = { ...terminal, isEngineUp: app.engine.status() !== undefined };
  const category = doctorCategories.find((known) => known === text(flags.category));
  const categories: readonly DoctorCategory[] = category === undefined ? [] : [category];
  const only = texts(args.finding) ?? [];
  const dryRun = isOn(flags["dry-run"]);
  if (!isOn(flags.fix)) {
    if (dryRun) return no(invalid("--dry-run", "goes with --fix"));
    if (only.length > 0) return no(invalid("finding", "goes with --fix", { value: only[0] ?? "" }));
    const looked = await app.call("doctor.examine", { categories });
    if (!looked.ok) return looked;
    const { checks } = looked.value;
    return ok({ json: examinationView(checks), text: reportLines(io, checks).join("\n"), ...exitFor(checks, []) });
  }
  if (dryRun || !(io.yes || io.json)) {
    const planned = await app.call("doctor.fix", { categories, only, dryRun: true });
    if (!planned.ok) return planned;
    const { fixes } = planned.value;
    if (dryRun || fixes.length === 0) return ok(fixOutcome(io, planned.value));
    for (const line of fixes.flatMap((fix) => fixLines(io, fix))) io.say(line);
    // Where no terminal can ask, --fix is word enough: nothing is lost by a fix.
    if ((await io.confirm(`Mend ${counted(fixes.length, "finding")}?`)) === false) {
      return ok({ json: {}, text: "Nothing was changed." });
    }
  }
  const done = await app.call("doctor.fix", { categories, only, dryRun: false });
  return done.ok ? ok(fixOutcome(io, done.value)) : done;
};

/** Where lines are printed, and whether an engine runs: findings of the engine need another command then. */
type DoctorIo = Io & { readonly isEngineUp: boolean };

function fixOutcome(io: DoctorIo, report: FixReport): Outcome {
  const { before, fixes, after } = report;
  const wrong = (checks: readonly DoctorCheck[]): number => checks.filter(({ status }) => status !== "pass").length;
  const isPlan = fixes.every(({ outcome }) => outcome === "planned");
  const end = isPlan
    ? fixes.length === 0
      ? wrong(after) === 0
        ? successLine(io.paint, "Nothing is to be mended.")
        : warningLine(io.paint, "Nothing was changed: no program can mend what is left, so it is for you:")
      : hintLine(io.paint, "nothing was changed; without --dry-run this is done")
    : (wrong(after) < wrong(before) ? successLine : warningLine)(
        io.paint,
        `Before: ${counted(wrong(before), "finding")}. After: ${counted(wrong(after), "finding")}.`,
      );
  const left = isPlan && fixes.length > 0 ? [] : reportLines(io, after);
  return {
    json: fixReportView(report),
    text: [...fixes.flatMap((fix) => fixLines(io, fix)), end, ...left].join("\n"),
    ...exitFor(after, fixes),
  };
}

function exitFor(checks: readonly DoctorCheck[], fixes: readonly FixResult[]): { readonly exit?: number } {
  if (fixes.some(({ outcome }) => outcome === "refused")) return { exit: exits.busy };
  return checks.some(({ status }) => status === "fail") ? { exit: exits.check } : {};
}

/** A section for each category; passing checks only with --verbose. */
function reportLines(io: DoctorIo, checks: readonly DoctorCheck[]): readonly string[] {
  const shown = checks.filter(({ status }) => io.verbose || status !== "pass");
  const sections = doctorCategories.flatMap((category) => {
    const lines = shown.filter((check) => check.category === category).flatMap((check) => checkLines(io, check));
    return lines.length === 0 ? [] : [io.paint.bold(`[${category}]`), ...lines];
  });
  const count = (status: DoctorCheck["status"]): number => checks.filter((check) => check.status === status).length;
  const [pass, warn, fail] = [count("pass"), count("warn"), count("fail")];
  const sum = `${pass} passed, ${warn} warned, ${fail} failed`;
  return [...sections, fail === 0 ? successLine(io.paint, sum) : errorLine(io.paint, sum)];
}

function checkLines({ paint, isEngineUp }: DoctorIo, check: DoctorCheck): readonly string[] {
  const { status, message, details, affects, fix, next, steps, healedByEngine, isOfEngine, id } = check;
  const line = visibleLine(message);
  if (status === "pass") return [`  ${paint.green("-")} ${check.name}: ${line}`];
  const mark = status === "warn" ? warningLine : errorLine;
  return [
    `  ${mark(paint, line)}`,
    ...details.map((detail) => hintLine(paint, `    ${visibleLine(detail)}`)),
    ...(affects === null ? [] : [hintLine(paint, `  affects: ${affects}`)]),
    ...(healedByEngine
      ? [
          hintLine(
            paint,
            `  the engine ${isEngineUp ? "does this by itself, within an hour" : "will do this when it starts"}`,
          ),
        ]
      : []),
    ...(fix === null || steps.length === 0
      ? []
      : [
          hintLine(
            paint,
            `  the fix ${visibleLine(fix)}: ${isEngineUp && isOfEngine && !healedByEngine ? "ov engine stop && " : ""}ov doctor --fix ${visibleLine(id)}`,
          ),
        ]),
    ...(next === null ? [] : [hintLine(paint, `  next: ${visibleLine(next)}`)]),
  ];
}

function fixLines({ paint }: Io, { id, message, does, outcome, actions, why }: FixResult): readonly string[] {
  const name = visibleLine(`${id}: ${message}`);
  const head = {
    planned: `${paint.yellow("~")} ${name}`,
    fixed: successLine(paint, `fixed ${name}`),
    engine: successLine(paint, `mended by the engine ${name}`),
    refused: warningLine(paint, `not fixed ${name}`),
    failed: errorLine(paint, `not fixed ${name}`),
  }[outcome];
  return [
    head,
    ...(outcome === "planned" ? [hintLine(paint, `  the fix ${visibleLine(does)}`)] : []),
    ...actions.map((action) => hintLine(paint, `  ${visibleLine(action)}`)),
    ...(why === null ? [] : [hintLine(paint, `  ${visibleLine(why)}`)]),
  ];
}

export const upgrade: Handler = async ({ app, io, flags }) => {
  const shown = await app.call("doctor.showVersions", {});
  if (!shown.ok) return shown;
  const json = versionsView(shown.value);
  const { program, engine, database, newest } = shown.value;
  const text = [
    `ov ${program}`,
    engine === null
      ? "engine: none runs; the next one is of this version"
      : engine === program
        ? `engine: ${engine}`
        : warningLine(io.paint, `engine: ${engine}`, "ov engine stop; the next command starts one of this version"),
    database === null
      ? "database: nothing was stored yet"
      : database === newest
        ? `database: version ${database}, up to date`
        : database > newest
          ? errorLine(io.paint, `database: version ${database}, and this ov knows ${newest}`, "use the newer ov")
          : warningLine(
              io.paint,
              `database: version ${database}; the next command that writes makes ${newest - database} migrations`,
            ),
  ].join("\n");
  const isOther = !json.upToDate;
  return ok({ json, text, ...(isOn(flags.check) && isOther ? { exit: exits.check } : {}) });
};

export const ecosystem: Handler = async ({ app, io }) => {
  const listed = await app.call("doctor.listCompanions", {});
  if (!listed.ok) return listed;
  const rows: Rows = {
    columns: ["TOOL", "PROGRAM", "VERSION"],
    cells: listed.value.map(({ name, cli, version, isInstalled }) => [
      name,
      cli,
      isInstalled ? (version ?? "unknown") : "not installed",
    ]),
    objects: listed.value.map(companionView),
  };
  return ok({ json: companionsView(listed.value), text: table(rows, io.paint), rows });
};
