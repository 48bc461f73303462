import { programView } from "../../../contract/views/project.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { FilterStanding } from "../../../domain/trust/filters.ts";
import type { ProgramTrust } from "../../../usecases/trust/trust.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Io, Rows } from "../command.ts";
import { hintLine, successLine } from "../marks.ts";
import { table } from "../table.ts";

export const list: Handler = async ({ app, io }) => {
  const listed = await app.call("trust.list", {});
  if (!listed.ok) return listed;
  const programs = listed.value;
  const rows: Rows = {
    columns: ["NAME", "MAY RUN", "RUNS"],
    cells: programs.map(({ name, standing, runs }) => [name, meanings[standing], runs.join("; ")]),
    objects: programs.map(programView),
  };
  const waiting = programs.filter(needsWord).map(({ name }) => name);
  const text =
    programs.length === 0
      ? "This repository names no filter and has no merge hook and no attributes of its own."
      : table(rows, io.paint);
  const next =
    waiting.length === 0 ? [] : [hintLine(io.paint, `confirm them: ov trust add ${waiting.map(shellWord).join(" ")}`)];
  return ok({ json: { programs: programs.map(programView) }, text: [text, ...next].join("\n"), rows });
};

export const add: Handler = async (call) => {
  const { app, io } = call;
  const added = await app.call("trust.add", { names: namesOf(call) });
  if (!added.ok) return added;
  const lines = added.value.map((program) => successLine(io.paint, confirmation(program), visibleLine(program.name)));
  return ok({ json: { programs: added.value.map(programView) }, text: lines.join("\n"), quietText: "" });
};

export const remove: Handler = async (call) => {
  const { app, io } = call;
  const left = await app.call("trust.remove", { names: namesOf(call) });
  if (!left.ok) return left;
  const lines = left.value.map(({ name }) => successLine(io.paint, "No longer confirmed:", visibleLine(name)));
  return ok({ json: { programs: left.value.map(programView) }, text: lines.join("\n"), quietText: "" });
};

const namesOf = ({ args }: Call): readonly string[] =>
  typeof args.name === "string" ? [args.name] : (args.name ?? []);

const meanings: Readonly<Record<FilterStanding, string>> = {
  user: "yes: your own configuration",
  confirmed: "yes: confirmed",
  without: "done without, as confirmed",
  unconfirmed: "no: not confirmed",
  changed: "no: changed since confirmed",
  missing: "no: defined nowhere",
};

const confirmation = ({ standing }: ProgramTrust): string =>
  standing === "without" ? "Done without the filter" : standing === "user" ? "Needs no word of yours:" : "Confirmed";

/** It waits for the operator. */
const needsWord = ({ standing, needed }: ProgramTrust): boolean =>
  needed && ["unconfirmed", "changed", "missing"].includes(standing);

/**
 * Asks about each program that waits for a word where a person can be asked, else says how to give it. Answers those
 * that still wait.
 */
export async function askForTrust(app: App, io: Io): Promise<Result<readonly ProgramTrust[], Refusal>> {
  const listed = await app.call("trust.list", { at: "repository" });
  if (!listed.ok) return listed;
  const left: ProgramTrust[] = [];
  for (const program of listed.value.filter(needsWord)) {
    const { name, kind, standing, runs } = program;
    const what = `the ${kind} ${visibleLine(name)}${runs.length === 0 ? "" : ` (${visibleLine(runs.join("; "))})`}`;
    const canAsk = !io.json && !io.quiet && !io.yes && standing !== "missing";
    const answer = canAsk ? await io.confirm(questionAbout(kind, what)) : undefined;
    if (answer === true && (await app.call("trust.add", { names: [name], at: "repository" })).ok) continue;
    left.push(program);
    io.warn(
      `${what} ${reasons[standing] ?? ""}; ${kind === "attributes" ? "when they are right" : "when it may run"}: ov trust add ${shellWord(name)}`,
    );
  }
  return ok(left);
}

const questionAbout = (kind: ProgramTrust["kind"], what: string): string =>
  kind === "attributes"
    ? `This repository changes how files look by ${what}. Is that right?`
    : `This repository wants to run ${what}. May it?`;

const reasons: Readonly<Partial<Record<FilterStanding, string>>> = {
  unconfirmed: "is named by this repository and not confirmed",
  changed: "has changed since it was confirmed",
  missing: "is named by .gitattributes but defined nowhere",
};
