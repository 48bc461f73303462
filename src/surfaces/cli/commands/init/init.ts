import { invalid, type Refusal } from "../../../../domain/refusal.ts";
import { no, ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler, Paint } from "../../command.ts";
import type { InitReport } from "../../facets/project.ts";
import type { TrustFacet } from "../../facets/trust.ts";
import { hintLine, successLine } from "../../marks.ts";
import { askForTrust } from "../trust/trust.ts";

export const init: Handler = async ({ app, flags, io }) => {
  const facet = await app.project();
  const trust = await facet.trust();
  const trusted = Array.isArray(flags.trust) ? flags.trust : [];
  // Before anything is written: a name that is mistyped leaves no trace.
  const unknown = await unknownTo(trust, trusted);
  if (unknown !== undefined) return no(unknown);
  const done = await facet.init({
    name: typeof flags.name === "string" ? flags.name : undefined,
    reset: flags.reset === true,
    commit: flags["no-commit"] !== true,
    instructions: flags["no-instructions"] !== true,
    newDatabase: flags["new-database"] === true,
  });
  if (!done.ok) return done;
  const added = trusted.length === 0 ? ok([]) : await trust.add(trusted);
  if (!added.ok) return added;
  const unconfirmed = await askForTrust(trust, io, (question) => facet.confirm(question));
  const { status, ...report } = done.value;
  if (!io.json) {
    const again = status === "already_initialized" && flags.force !== true && !io.yes;
    if (again) io.warn("this project is set up already; its configuration was kept (ov init --reset replaces it)");
    for (const warning of report.warnings) io.warn(visibleLine(warning));
  }
  const tools = { overstory: { status, path: `${report.root}/.overstory` } };
  return ok({ json: { ...report, unconfirmed, tools }, text: lines(io.paint, done.value).join("\n"), quietText: "" });
};

async function unknownTo(trust: TrustFacet, names: readonly string[]): Promise<Refusal | undefined> {
  if (names.length === 0) return undefined;
  const known = (await trust.list()).map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return invalid("trust", "is no filter or hook that this repository names", { value: unknown, allowed: known });
}

function lines(paint: Paint, report: InitReport): readonly string[] {
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(8))} ${visibleLine(value)}`;
  const [first = "none", ...rest] = report.gates.map(({ name, command, from }) => `${name}: ${command} (${from})`);
  return [
    headline(paint, report),
    fact("root", report.root),
    fact("branch", report.canonicalBranch),
    fact("runtime", report.runtime),
    fact("gates", first),
    ...rest.map((gate) => fact("", gate)),
    ...(report.created.length === 0 ? [] : [fact("written", topmost(report.created).join(", "))]),
    ...report.backups.map((copy) => fact("kept", copy)),
    ...(report.committed
      ? [fact("commit", `the new files, and nothing else, on ${report.committedOn ?? "the detached HEAD"}`)]
      : []),
    "",
    "Next:",
    hintLine(paint, 'ov task create "What is to be done"'),
    hintLine(paint, "ov sling <task-id>"),
    hintLine(paint, "ov status"),
  ];
}

/** A new directory stands for everything in it. */
const topmost = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));

function headline(paint: Paint, { project, created }: InitReport): string {
  const name = visibleLine(project);
  return created.length === 0
    ? `${paint.accent(name)} is complete; nothing was changed`
    : successLine(paint, "Overstory is set up for", name);
}
