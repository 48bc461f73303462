import { hooksView, setUpView, updateView } from "../../../contract/views/project.ts";
import type { SetupCommand } from "../../../domain/project/setup-command.ts";
import type { UnusableGate } from "../../../domain/project/unusable-gates.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { InitProposals } from "../../../usecases/project/facts.ts";
import type { InitReport } from "../../../usecases/project/init.ts";
import type { Kept, NamedPart, UpdateReport } from "../../../usecases/project/update.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Paint } from "../command.ts";
import { isOn } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";
import { askForTrust } from "./trust.ts";

export const init: Handler = async ({ app, flags, io }) => {
  const trusted = Array.isArray(flags.trust) ? flags.trust : [];
  // Before anything is written: a name that is mistyped leaves no trace.
  const unknown = await unknownTo(app, trusted);
  if (unknown !== undefined) return no(unknown);
  const reset = flags.reset === true;
  const proposed = await app.call("project.propose", { reset });
  if (!proposed.ok) return proposed;
  const offers = proposed.value;
  // A new configuration is written with the setup command. An existing one gets it afterwards.
  const setup = offers.isConfigured ? undefined : await offerSetup(offers, io);
  const done = await app.call("project.init", {
    name: typeof flags.name === "string" ? flags.name : undefined,
    reset,
    commit: flags["no-commit"] !== true,
    instructions: flags["no-instructions"] !== true,
    setup: setup?.taken === true ? setup.command : undefined,
    newDatabase: flags["new-database"] === true,
  });
  if (!done.ok) return done;
  const added = trusted.length === 0 ? ok([]) : await app.call("trust.add", { names: trusted, at: "repository" });
  if (!added.ok) return added;
  const unconfirmed = await askForTrust(app, io);
  if (!unconfirmed.ok) return unconfirmed;
  const report = done.value;
  if (!io.json) {
    const again = report.status === "already_initialized" && flags.force !== true && !io.yes;
    if (again) io.warn("this project is set up already; its configuration was kept (ov init --reset replaces it)");
    for (const warning of report.warnings) io.warn(visibleLine(warning));
  }
  const changed = await changeConfigured(app, offers, io);
  if (!changed.ok) return changed;
  const taken = setup ?? changed.value.setup;
  const unusableGates = changed.value.unusable;
  const json = setUpView({ report, setup: taken, unusableGates, unconfirmed: unconfirmed.value });
  const edited = changed.value.setup?.taken === true || changed.value.unusable.some(({ removed }) => removed);
  const text = [
    ...lines(io.paint, done.value, taken),
    ...(edited ? ["", "Changed .overstory/config.yaml as you said; commit it to share the change."] : []),
  ];
  return ok({ json, text: text.join("\n"), quietText: "" });
};

interface OfferedSetup extends SetupCommand {
  readonly taken: boolean;
}

/**
 * Offers the setup command that the project's files name. It is set with `--yes` or after the user's yes; otherwise it is
 * only shown.
 */
async function offerSetup({ setup }: InitProposals, io: Call["io"]): Promise<OfferedSetup | undefined> {
  if (setup === undefined) return undefined;
  const { command, from } = setup;
  const question = `Gates need installed dependencies. Install them with: ${visibleLine(command)} (from ${from})?`;
  const answer = io.yes ? true : mayAsk(io) ? await io.confirm(question) : undefined;
  if (answer === undefined) {
    io.warn(
      `gates need installed dependencies, and no command installs them yet; take the one for ${from} with: ov config set merge.setup ${shellWord(command)}`,
    );
  }
  return { ...setup, taken: answer === true };
}

interface Changed {
  readonly setup: OfferedSetup | undefined;
  readonly unusable: readonly (UnusableGate & { readonly removed: boolean })[];
}

/**
 * Offers changes of the configuration as it is now. A gate is removed only after the user's yes: the configuration is
 * shared, and a program that this machine lacks may be on another one. Without an answer the gate is shown, with the
 * command that removes it.
 */
async function changeConfigured(app: App, offers: InitProposals, io: Call["io"]): Promise<Result<Changed, Refusal>> {
  const setup = offers.isConfigured ? await offerSetup(offers, io) : undefined;
  const set = setup?.taken === true ? await setShared(app, "merge.setup", setup.command) : ok(null);
  if (!set.ok) return set;
  const { unusable, remaining } = offers;
  const [first] = unusable;
  if (first === undefined) return ok({ setup, unusable: [] });
  const which = unusable.map(({ name, command, why }) => `${visibleLine(name)} (${visibleLine(command)}): ${why}`);
  const them = unusable.length === 1 ? "this gate" : "these gates";
  const kept = JSON.stringify(remaining);
  const asks = `No work can pass ${them}: ${which.join("; ")}. Remove ${unusable.length === 1 ? "it" : "them"} from .overstory/config.yaml?`;
  const answer = mayAsk(io) && !io.yes ? await io.confirm(asks) : undefined;
  if (answer === undefined) {
    const command = `ov config set project.qualityGates ${shellWord(kept)}`;
    io.warn(
      `no work can pass ${them} here: ${which.join("; ")}; remove ${unusable.length === 1 ? "it" : "them"} with: ${command}`,
    );
  }
  const removed = answer === true ? await setShared(app, "project.qualityGates", kept) : ok(null);
  if (!removed.ok) return removed;
  return ok({ setup, unusable: unusable.map((gate) => ({ ...gate, removed: answer === true })) });
}

/** Sets one key of the settings that were just written, or were there. */
async function setShared(app: App, key: string, value: string): Promise<Result<null, Refusal>> {
  const set = await app.call("config.set", { key, value, local: false, at: "repository" });
  return set.ok ? ok(null) : set;
}

const mayAsk = (io: Call["io"]): boolean => !io.json && !io.quiet;

async function unknownTo(app: App, names: readonly string[]): Promise<Refusal | undefined> {
  if (names.length === 0) return undefined;
  const listed = await app.call("trust.list", { at: "repository" });
  if (!listed.ok) return listed.refusal;
  const known = listed.value.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return invalid("trust", "is no filter or hook that this repository names", { value: unknown, allowed: known });
}

function lines(paint: Paint, report: InitReport, setup: OfferedSetup | undefined): readonly string[] {
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(8))} ${visibleLine(value)}`;
  const [first = "none", ...rest] = report.gates.map(({ name, command, from }) => `${name}: ${command} (${from})`);
  return [
    headline(paint, report),
    fact("root", report.root),
    fact("branch", report.canonicalBranch),
    fact("runtime", report.runtime),
    fact("gates", first),
    ...rest.map((gate) => fact("", gate)),
    ...(setup?.taken === true ? [fact("setup", `${setup.command} (${setup.from}), before gates`)] : []),
    ...(report.created.length === 0 ? [] : [fact("written", topmost(report.created).join(", "))]),
    ...report.backups.map((copy) => fact("kept", copy)),
    ...(report.committed
      ? [fact("commit", `the new files, and nothing else, on ${report.committedOn ?? "the detached HEAD"}`)]
      : []),
    "",
    "Next:",
    hintLine(paint, 'a team for an objective: ov go "What is to be done"'),
    hintLine(paint, 'one agent for a task: ov sling "What is to be done"'),
    hintLine(paint, "who is there: ov status"),
  ];
}

/** A new directory stands for everything in it. */
const topmost = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));

function headline(paint: Paint, { project, created, isAdopted, putAside }: InitReport): string {
  const name = visibleLine(project);
  const kept = putAside === null ? "nothing was changed" : "its database is new, and its other files were not changed";
  return created.length === 0
    ? `${paint.accent(name)} is complete; ${isAdopted ? "its files were not changed" : kept}`
    : successLine(paint, "Overstory is set up for", name);
}

export const update: Handler = async ({ app, flags, io }) => {
  const request = { only: partsMeant(flags), dryRun: isOn(flags["dry-run"]), force: isOn(flags.force) };
  const done = await app.call("project.update", request);
  if (!done.ok) return done;
  const text = updateLines(io.paint, done.value).join("\n");
  return ok({ json: updateView(done.value), text, quietText: "" });
};

const partsMeant = (flags: Call["flags"]): readonly NamedPart[] => [
  ...(isOn(flags.agents) ? (["agents"] as const) : []),
  ...(isOn(flags.manifest) ? (["manifest"] as const) : []),
  ...(isOn(flags.hooks) ? (["hooks"] as const) : []),
];

function updateLines(paint: Paint, { dryRun, written, kept, backups, hooks }: UpdateReport): readonly string[] {
  const remarks = kept.filter(isNews).map((one) => {
    return warningLine(paint, `${visibleLine(one.path)} was kept: it ${visibleLine(one.why)}`, hintOf(one));
  });
  return [
    updateHeadline(paint, { dryRun, count: written.length }),
    ...written.map((path) => hintLine(paint, visibleLine(path))),
    ...backups.map((path) => hintLine(paint, `${visibleLine(path)} (a copy of what was there)`)),
    ...remarks,
    ...(hooks.updated && !dryRun ? [hintLine(paint, "The hooks count from your next session on.")] : []),
  ];
}

/** A text of one's own that is not behind is as its owner wants it. */
const isNews = ({ part, state }: Kept): boolean => part !== "agentDefs" || state !== "edited";

function hintOf({ part, path, replaceable }: Kept): string | undefined {
  if (part !== "agentDefs") return replaceable ? "ov update --force" : undefined;
  const role = path.replace(/^.*\//, "").replace(/\.md$/, "");
  return `ov prompt diff ${visibleLine(role)}`;
}

function updateHeadline(paint: Paint, { dryRun, count }: { readonly dryRun: boolean; readonly count: number }): string {
  if (count === 0) return "Nothing to update";
  const files = count === 1 ? "1 file" : `${count} files`;
  return dryRun ? `Would bring ${files} up to date:` : successLine(paint, `Brought ${files} up to date:`);
}

export const installHooks: Handler = async ({ app, flags, io }) => {
  const done = await app.call("hooks.install", { force: isOn(flags.force) });
  if (!done.ok) return done;
  const { path, changed } = done.value;
  const text = changed
    ? [successLine(io.paint, "Installed in", path), hintLine(io.paint, "They count from your next session on.")]
    : [`The hooks are in ${path} already.`];
  return ok({ json: hooksView(done.value, { installed: true }), text: text.join("\n"), quietText: "" });
};

export const hookStatus: Handler = async ({ app, io }) => {
  const found = await app.call("hooks.status", {});
  if (!found.ok) return found;
  const { path, sourceExists, installed, missing } = found.value;
  const text = installed
    ? [`Installed in ${path}.`]
    : [`Not installed in ${path}: ${missing.join(", ")} missing.`, hintLine(io.paint, "ov hooks install")];
  return ok({ json: { sourceExists, installed }, text: text.join("\n") });
};

export const uninstallHooks: Handler = async ({ app, io }) => {
  const done = await app.call("hooks.uninstall", {});
  if (!done.ok) return done;
  const { path, changed } = done.value;
  const text = changed ? successLine(io.paint, "Uninstalled from", path) : "No hooks of ours are installed.";
  return ok({ json: hooksView(done.value, { installed: false }), text, quietText: "" });
};
