import { configKeyView } from "../../../contract/views/project.ts";
import { ok } from "../../../domain/result.ts";
import { isSecretSetting } from "../../../domain/text/secret-lines.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { ConfigKey, ConfigProblem } from "../../../usecases/config/config.ts";
import { exits } from "../../shared/exits.ts";
import { cut } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Handler, Io, Paint, Rows } from "../command.ts";
import { errorLine, hintLine, successLine, warningLine } from "../marks.ts";
import { fileSink } from "../sink.ts";
import { table } from "../table.ts";

export const get: Handler = async ({ app, args }) => {
  const key = String(args.key);
  const found = await app.call("config.get", { key });
  if (!found.ok) return found;
  return ok({ json: { key, value: plain(found.value) }, text: shown(found.value) });
};

export const set: Handler = async ({ app, args, flags, io }) => {
  const key = String(args.key);
  const changed = await app.call("config.set", { key, value: String(args.value), local: flags.local === true });
  if (!changed.ok) return changed;
  const { file, before, after, inForce } = changed.value;
  if (!inForce) io.warn(`${after.origin} overrules it: ${key} is still ${shown(after.value) || "not set"}`);
  if (flags.local !== true && isSecretSetting(String(args.value))) {
    const keep = `ov config set ${key} <value> --local && ov config unset ${key}`;
    io.warn(`the value holds a secret, and ${file} is shared through git; to keep it on this machine: ${keep}`);
  }
  const was = shown(before) || "not set";
  const change = inForce ? `${key}: ${was} -> ${shown(after.value) || "not set"} in` : `${key} was written to`;
  return ok({
    json: { key, file, before: plain(before), value: plain(after.value), origin: after.origin, inForce },
    text: successLine(io.paint, change, file),
    quietText: "",
  });
};

export const unset: Handler = async ({ app, args, flags, io }) => {
  const key = String(args.key);
  const changed = await app.call("config.unset", { key, local: flags.local === true });
  if (!changed.ok) return changed;
  const { file, isWritten, before, after } = changed.value;
  const counts = `${shown(after.value) || "nothing"} counts now (${after.origin})`;
  const done = isWritten ? `${key} was removed from` : `${key} is not set in`;
  const elsewhere = isWritten ? undefined : unsetElsewhere(after);
  return ok({
    json: { key, file, removed: isWritten, before: plain(before), value: plain(after.value), origin: after.origin },
    text: [
      successLine(io.paint, done, `${file}: ${counts}`),
      ...(elsewhere === undefined ? [] : [hintLine(io.paint, elsewhere)]),
    ].join("\n"),
    quietText: "",
  });
};

/** How to remove a key from the source that decides it; undefined where that is a default. */
function unsetElsewhere({ key, origin, variable }: ConfigKey): string | undefined {
  if (origin === variable) return `it comes from this shell: unset ${variable}`;
  if (/config\.local\.yaml(:\d+)?$/.test(origin)) return `to remove it there: ov config unset ${key} --local`;
  return /config\.yaml(:\d+)?$/.test(origin) ? `to remove it there: ov config unset ${key}` : undefined;
}

export const list: Handler = async ({ app, args, io }) => {
  const found = await app.call("config.list", typeof args.section === "string" ? { section: args.section } : {});
  if (!found.ok) return found;
  await warnOfProblems(app, io);
  const keys = found.value.map(configKeyView);
  const rows: Rows = {
    columns: ["KEY", "VALUE", "ORIGIN"],
    cells: keys.map(({ key, value, origin }) => [key, shown(value), origin]),
    objects: keys,
  };
  return ok({ json: { keys }, text: table(shortRows(keys, fileSink(1).columns()), io.paint), rows });
};

interface ListedKey {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

/**
 * For a person, in as many columns as the terminal has: a list of gates would push the origin out of sight, and
 * `ov config get` has all of it. Names of keys are never cut, for they are typed.
 */
export function shortRows(keys: readonly ListedKey[], room: number | undefined): Rows {
  const origins = keys.map(({ origin }) => origin.replace(/^\.overstory\//, ""));
  const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));
  const left = (room ?? 0) - longest(keys.map(({ key }) => key)) - longest(origins) - 2 * gap;
  const widest = room === undefined ? mostShown : Math.min(mostShown, Math.max(leastShown, left));
  return {
    columns: ["KEY", "VALUE", "ORIGIN"],
    cells: keys.map(({ key, value }, at) => [key, cut(shown(value), widest), origins[at] ?? ""]),
  };
}

/** Between two columns of a table. */
const gap = 2;
const mostShown = 48;
const leastShown = 12;

export const explain: Handler = async ({ app, args, io }) => {
  const found = await app.call("config.explain", { key: String(args.key) });
  if (!found.ok) return found;
  await warnOfProblems(app, io);
  const key = found.value;
  return ok({
    json: configKeyView(key),
    text: lines(io.paint, key).join("\n"),
  });
};

function lines(paint: Paint, view: ConfigKey): readonly string[] {
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(8))} ${value}`;
  return [
    paint.accent(view.key),
    `  ${view.doc}`,
    fact("type", view.type),
    fact("takes", view.takes),
    fact("default", view.defaultIs ?? (shown(view.default) || "not set")),
    fact("value", `${shown(view.value) || "not set"} (${view.origin})`),
    fact("variable", view.variable),
  ];
}

export const validate: Handler = async ({ app, io }) => {
  const found = await app.call("config.validate", {});
  if (!found.ok) return found;
  const { problems, warnings } = found.value;
  const valid = problems.length === 0;
  const lines = [
    ...problems.map((problem) => errorLine(io.paint, problemLine(problem))),
    ...warnings.map((warning) => warningLine(io.paint, problemLine(warning))),
    ...(valid ? [successLine(io.paint, "The configuration can be used")] : []),
  ];
  return ok({
    json: {
      success: valid,
      ...(valid ? {} : { error: problems.map(problemLine).join("; ") }),
      valid,
      problems,
      warnings,
    },
    text: lines.join("\n"),
    exit: valid ? exits.ok : exits.setup,
  });
};

/** A value on one line, as it could be typed again: text as it is, everything else as JSON, nothing when unset. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return visibleLine(typeof value === "string" ? value : JSON.stringify(value));
}

/** JSON has no undefined: a key that is not set is null. */
const plain = (value: unknown): unknown => value ?? null;

/** `file:line:column key message`, the form editors can jump to. */
function problemLine({ file, line, column, key, message, nearest }: ConfigProblem): string {
  const place = line > 0 ? `${file}:${line}:${column}` : file;
  const hint = nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
  return visibleLine(`${place} ${key === "" ? "" : `${key} `}${message}${hint}`);
}

/** What is shown beside a broken configuration is partly defaults, and the reader should know. */
async function warnOfProblems(app: App, io: Io): Promise<void> {
  const found = await app.call("config.validate", {});
  if (!found.ok || found.value.problems.length === 0) return;
  io.warn("the configuration has problems, so defaults stand in for some values: ov config validate");
}
