import { nearest } from "../../domain/name/nearest.ts";
import { jsonProblem } from "../../domain/text/json-problem.ts";
import type { Argument, Command, Flag, FlagValue } from "./command.ts";
import { type Format, formats, type Globals, globalFlags, isGlobalFlag } from "./globals.ts";
import type { UsageProblem } from "./usage.ts";

/** What a command line means. `globals` are known in every case, so that even a problem is printed as asked. */
export type Parsed = { readonly globals: Globals; readonly path: readonly string[] } & (
  | {
      readonly kind: "call";
      readonly command: Command;
      readonly flags: Readonly<Record<string, FlagValue | undefined>>;
      readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
      /** Deprecated things that were used, worded for stderr. */
      readonly notices: readonly string[];
    }
  | { readonly kind: "help"; readonly command: Command }
  | { readonly kind: "version" }
  | { readonly kind: "problem"; readonly problem: UsageProblem }
);

/** Reads a command line against the tree. Never throws and never prints; the first problem is the one reported. */
export function parse(tree: Command, argv: readonly string[]): Parsed {
  const walk: Walk = {
    globals: { json: false, quiet: false, verbose: false, timing: false, noColor: false, yes: false },
    node: tree,
    path: [],
    given: [],
    words: [],
    notices: [],
    help: false,
    version: false,
    problem: undefined,
  };
  let flagsEnded = false;
  for (let i = 0; i < argv.length; i++) {
    const token = argv[i] ?? "";
    if (flagsEnded || token.charCodeAt(0) !== dash || token === "-") takeWord(walk, token, tree.name);
    else if (token === "--") flagsEnded = true;
    else if (takeFlag(walk, token, argv[i + 1], tree.name) === "with-next") i++;
  }
  return conclude(walk, tree);
}

/** The state of one reading. `problem` holds the first; reading goes on for the sake of `--json`, `--help` and the like. */
interface Walk {
  readonly globals: { -readonly [K in keyof Globals]: Globals[K] };
  node: Command;
  readonly path: string[];
  readonly given: Given[];
  readonly words: string[];
  readonly notices: string[];
  help: boolean;
  version: boolean;
  problem: UsageProblem | undefined;
}

interface Given {
  readonly name: string;
  /** A boolean for a switch, and `true` for an optional value left out. */
  readonly raw: string | boolean;
}

function takeWord(walk: Walk, word: string, program: string): void {
  const { node } = walk;
  if (node.commands === undefined || walk.words.length > 0 || walk.problem?.kind === "unknown-command") {
    walk.words.push(word);
    return;
  }
  const child = node.commands.find((command) => command.name === word);
  if (child !== undefined) {
    walk.node = child;
    walk.path.push(child.name);
    if (child.deprecated !== undefined) {
      walk.notices.push(`${[program, ...walk.path].join(" ")} is deprecated: ${child.deprecated}`);
    }
  } else if (node.run !== undefined && (node.arguments?.length ?? 0) > 0) walk.words.push(word);
  else if (word === "help") walk.help = true;
  else report(walk, { kind: "unknown-command", word, ...close(word, visibleNames(node.commands)) });
}

function takeFlag(walk: Walk, token: string, next: string | undefined, program: string): "alone" | "with-next" {
  const match = lookUp(walk.node, token);
  if (match === undefined) {
    if (isNumber(token)) takeWord(walk, token, program);
    else report(walk, { kind: "unknown-flag", flag: nameOf(token), ...closeFlag(walk.node, token) });
    return "alone";
  }
  const { flag, negated } = match;
  const inline = inlineValue(token);
  if (flag.value === undefined) {
    if (inline !== undefined && (flag.optionalValue === undefined || negated)) {
      report(walk, { kind: "bad-value", field: nameOf(token), value: inline, problem: "takes no value" });
    }
    store(walk, match, flag.optionalValue === undefined || negated ? !negated : (inline ?? true));
    return "alone";
  }
  if (inline !== undefined) {
    store(walk, match, inline);
    return "alone";
  }
  if (next === undefined || !mayBeValue(walk.node, flag, next)) {
    const refused = next === undefined ? {} : { next };
    report(walk, { kind: "missing-value", flag: `--${flag.name}`, placeholder: `<${flag.value}>`, ...refused });
    return "alone";
  }
  store(walk, match, next);
  return "with-next";
}

function store(walk: Walk, { flag, global }: Match, raw: string | boolean): void {
  if (!global) {
    walk.given.push({ name: flag.name, raw });
    return;
  }
  const { globals } = walk;
  switch (flag.name) {
    case "json":
    case "quiet":
    case "verbose":
    case "timing":
    case "yes":
      globals[flag.name] = true;
      return;
    case "no-color":
      globals.noColor = true;
      return;
    case "help":
    case "version":
      walk[flag.name] = true;
      return;
    case "project":
      if (raw === "")
        report(walk, { kind: "bad-value", field: "--project", value: "", problem: "must name a directory" });
      else globals.project = String(raw);
      return;
    case "format": {
      const checked = flagValue(flag, String(raw));
      if (!checked.ok) report(walk, badValue("--format", String(raw), checked.bad));
      else globals.format = formats.find((format): format is Format => format === raw) ?? "json";
    }
  }
}

type WithoutPath<T> = T extends unknown ? Omit<T, "path"> : never;

function report(walk: Walk, problem: WithoutPath<UsageProblem>): void {
  walk.problem ??= { ...problem, path: [...walk.path] };
}

const badValue = (field: string, value: string, bad: BadValue): WithoutPath<UsageProblem> => ({
  kind: "bad-value",
  field,
  value,
  ...bad,
});

function close(word: string, candidates: Iterable<string>): { nearest?: string } {
  const found = nearest(word, candidates);
  return found === undefined ? {} : { nearest: found };
}

function closeFlag(node: Command, token: string): { nearest?: string } {
  const typed = nameOf(token).slice(token.charCodeAt(1) === dash ? 2 : 1);
  const found = nearest(typed, visibleNames([...(node.flags ?? []), ...globalFlags]));
  return found === undefined ? {} : { nearest: `--${found}` };
}

const visibleNames = (items: readonly { readonly name: string; readonly hidden?: boolean }[]): string[] =>
  items.filter((item) => item.hidden !== true).map((item) => item.name);

function conclude(walk: Walk, tree: Command): Parsed {
  const { node, path, globals } = walk;
  const lost = walk.problem?.kind === "unknown-command";
  if (walk.help && !lost) return { kind: "help", globals, path, command: node };
  if (walk.version && !lost) return { kind: "version", globals, path };
  if (walk.problem === undefined && node.run === undefined) {
    if (node === tree) return { kind: "help", globals, path, command: node };
    report(walk, { kind: "missing-subcommand", available: visibleNames(node.commands ?? []) });
  }
  const flags = readFlags(walk, tree.name);
  const args = readArguments(walk);
  const missing = (node.flags ?? []).filter(
    ({ name, required }) => required === true && flags[name] === undefined && !isGlobalFlag(name),
  );
  if (missing.length > 0) {
    const shown = missing.map(({ name, value }) => (value === undefined ? `--${name}` : `--${name} <${value}>`));
    report(walk, { kind: "missing-flag", flag: shown.join(" ") });
  }
  if (walk.problem !== undefined) return { kind: "problem", globals, path: walk.problem.path, problem: walk.problem };
  return { kind: "call", globals, path, command: node, flags, args, notices: walk.notices };
}

/** Flags are read against the command finally reached: one typed before a sub-command must be known to it. */
function readFlags(walk: Walk, program: string): Record<string, FlagValue | undefined> {
  const flags: Record<string, FlagValue | undefined> = {};
  for (const { name, raw } of walk.given) {
    const flag = walk.node.flags?.find((candidate) => candidate.name === name);
    if (flag === undefined) {
      report(walk, { kind: "unknown-flag", flag: `--${name}` });
      continue;
    }
    if (flag.deprecated !== undefined) {
      walk.notices.push(`${[program, ...walk.path].join(" ")} --${name} is deprecated: ${flag.deprecated}`);
    }
    if (typeof raw === "boolean") {
      flags[name] = raw;
      continue;
    }
    const checked = flagValue(flag, raw);
    if (!checked.ok) report(walk, badValue(`--${name}`, raw, checked.bad));
    else flags[name] = appended(flags[name], checked.value);
  }
  return flags;
}

/** A repeated list grows; of everything else the last one counts. */
function appended(before: FlagValue | undefined, value: FlagValue): FlagValue {
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
}

function readArguments(walk: Walk): Record<string, string | readonly string[] | undefined> {
  const { words } = walk;
  const declared = walk.node.arguments ?? [];
  const args: Record<string, string | readonly string[] | undefined> = {};
  let taken = 0;
  for (const argument of declared) {
    const own = words.slice(taken, argument.variadic === true ? words.length : taken + 1);
    taken += own.length;
    if (own.length === 0) {
      if (argument.required === true) report(walk, { kind: "missing-argument", argument: shown(argument) });
      continue;
    }
    for (const word of own) {
      const checked = argumentValue(argument, word);
      if (!checked.ok) report(walk, badValue(shown(argument), word, checked.bad));
    }
    args[argument.name] = argument.variadic === true ? own : own[0];
  }
  const extra = words[taken];
  if (extra !== undefined) report(walk, { kind: "too-many-arguments", word: extra, most: declared.length });
  return args;
}

const shown = ({ name, variadic }: Argument): string => (variadic === true ? `<${name}...>` : `<${name}>`);

/** A flag as it was typed. */
interface Match {
  readonly flag: Flag;
  readonly global: boolean;
  readonly negated: boolean;
}

/** The character code every flag starts with. */
const dash = 45;

/** The flag a token names in this command: a global one before its own, and `--no-x` for a negatable one. */
function lookUp(node: Command, token: string): Match | undefined {
  const name = nameOf(token);
  const global = globalFlags.find((flag) => isNamed(flag, name));
  if (global !== undefined) return { flag: global, global: true, negated: false };
  const own = node.flags?.find((flag) => isNamed(flag, name));
  if (own !== undefined) return { flag: own, global: false, negated: false };
  if (!name.startsWith("--no-")) return undefined;
  const denied = node.flags?.find((flag) => flag.negatable === true && flag.name === name.slice(5));
  return denied === undefined ? undefined : { flag: denied, global: false, negated: true };
}

function isNamed(flag: Flag, name: string): boolean {
  if (name.charCodeAt(1) === dash) return name.length === flag.name.length + 2 && name.endsWith(flag.name);
  return flag.short !== undefined && name === `-${flag.short}`;
}

/** The token without its value: `--to` of `--to=bob`. */
function nameOf(token: string): string {
  const equals = token.indexOf("=");
  return equals === -1 ? token : token.slice(0, equals);
}

/** The value behind the equals sign, if there is one. */
function inlineValue(token: string): string | undefined {
  const equals = token.indexOf("=");
  return equals === -1 ? undefined : token.slice(equals + 1);
}

/** A word that starts with a dash is a value only where it cannot be meant as a flag. */
function mayBeValue(node: Command, flag: Flag, next: string): boolean {
  if (next.charCodeAt(0) !== dash || next === "-" || isNumber(next)) return true;
  const isText = flag.type === undefined || flag.type === "text";
  return isText && next !== "--" && lookUp(node, next) === undefined;
}

/** Why a value cannot be used; becomes a `bad-value` problem. */
interface BadValue {
  readonly problem: string;
  readonly allowed?: readonly string[];
  readonly nearest?: string;
}

type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly bad: BadValue };

/** Reads one value as its flag declares it. */
function flagValue(flag: Flag, raw: string): Checked<FlagValue> {
  switch (flag.type ?? "text") {
    case "integer":
      return integer(flag, raw);
    case "list":
      return list(flag, raw);
    case "texts":
      return raw.trim() === "" ? wrong("must not be empty") : good([raw.trim()]);
    case "json":
      return json(raw);
    case "text":
      return chosen(flag.choices, raw);
  }
}

/** Checks one argument against its choices. */
const argumentValue = (argument: Argument, raw: string): Checked<string> => chosen(argument.choices, raw);

/** A decimal number such as -5 or 0.5, which may stand where a flag could. */
function isNumber(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 48 && last <= 57 && Number.isFinite(Number(text));
}

const good = <T>(value: T): Checked<T> => ({ ok: true, value });
const wrong = (problem: string, extra: Omit<BadValue, "problem"> = {}): Checked<never> => ({
  ok: false,
  bad: { problem, ...extra },
});

function integer({ min }: Flag, raw: string): Checked<number> {
  const value = isDigits(raw) ? Number(raw) : Number.NaN;
  if (!Number.isSafeInteger(value)) return wrong("must be a whole number");
  if (min !== undefined && value < min) return wrong(`must be ${min} or more`);
  return good(value);
}

/** `Number` alone would also read "", " 5", "0x10" and "1e3". */
function isDigits(raw: string): boolean {
  const start = raw.charCodeAt(0) === 45 ? 1 : 0;
  for (let i = start; i < raw.length; i++) {
    const code = raw.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return raw.length > start;
}

function list({ choices }: Flag, raw: string): Checked<readonly string[]> {
  const items: string[] = [];
  for (const part of raw.split(",")) {
    const item = part.trim();
    if (item === "") continue;
    const checked = chosen(choices, item);
    if (!checked.ok) return checked;
    items.push(item);
  }
  return good(items);
}

function chosen(choices: readonly string[] | undefined, raw: string): Checked<string> {
  if (choices === undefined || choices.includes(raw)) return good(raw);
  const close = nearest(raw, choices);
  return wrong(`must be one of ${choices.join(", ")}`, {
    allowed: choices,
    ...(close === undefined ? {} : { nearest: close }),
  });
}

function json(raw: string): Checked<string> {
  try {
    JSON.parse(raw);
    return good(raw);
  } catch {
    return wrong(`must be valid JSON: ${jsonProblem(raw) ?? "it is nested too deeply"}`);
  }
}
