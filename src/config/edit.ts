import { isDeepStrictEqual } from "node:util";
import { no, ok, type Result } from "../domain/result.ts";
import { assemble } from "./assemble.ts";
import { read, type Setting, type Source } from "./collect.ts";
import { findKey, nearestKey } from "./keys.ts";
import { settingsOf } from "./load.ts";
import { type ConfigProblem, noFindings, printable } from "./problem.ts";
import { asWritten, jsonProblemOf, treeOfText } from "./read.ts";
import { dataOf, type Entry, entryOf, type Tree, treeAt } from "./tree.ts";
import { whyNoKey } from "./unused-keys.ts";

/**
 * The text of a config file with one key set. Everything else in it stays as its author wrote it. Refused when the
 * value does not fit, or when the file would have a problem it does not have now.
 */
export async function setConfigValue(
  text: string,
  key: string,
  typed: string,
  file = "config.yaml",
): Promise<Result<string, readonly ConfigProblem[]>> {
  const found = findKey(key);
  const at = { file, line: 0, column: 0, key };
  if (found === undefined) return no([unknownKey(at)]);
  const broken = jsonProblemOf(found.known.spec, typed);
  if (broken !== undefined) return no([{ ...at, message: broken }]);
  const findings = noFindings();
  const source = { layer: "project", file } as const;
  const setting = read(found.known, found.path, treeOfText(found.known.spec, typed), source, findings);
  if (setting === undefined) return no(printable(findings.problems));

  return changed(text, { key, source, verb: "set" }, () =>
    put(text, found.path, asWritten(found.known.spec, setting.value)),
  );
}

/**
 * The text of a config file without one key; the same text where it does not set the key. Everything else in it stays,
 * except headers of sections that would hold nothing any more.
 */
export async function unsetConfigValue(
  text: string,
  key: string,
  file = "config.yaml",
): Promise<Result<string, readonly ConfigProblem[]>> {
  const found = findKey(key);
  if (found === undefined) return no([unknownKey({ file, line: 0, column: 0, key })]);
  const source = { layer: "project", file } as const;
  return changed(text, { key, source, verb: "removed" }, () => take(text, found.path));
}

function unknownKey(at: Omit<ConfigProblem, "message">): ConfigProblem {
  const unused = whyNoKey(at.key);
  if (unused !== undefined) return { ...at, message: unused };
  const nearest = nearestKey(at.key);
  if (nearest === undefined) return { ...at, message: "is not a known key; see them all with: ov config list" };
  return { ...at, message: "is not a known key", nearest };
}

/** The edited text, unless the edit changed what other keys mean or gave the file a problem that it does not have now. */
async function changed(
  text: string,
  { key, source, verb }: { readonly key: string; readonly source: Source; readonly verb: "set" | "removed" },
  edit: () => Promise<string | undefined>,
): Promise<Result<string, readonly ConfigProblem[]>> {
  const before = await stateOf(text, source);
  const illegible = before.problems.filter((problem) => problem.key === "");
  if (illegible.length > 0) return no(illegible);
  const edited = await edit();
  const after = edited === undefined ? undefined : await stateOf(edited, source);
  const isLeft = verb === "removed" && after?.settings.some(({ path }) => path.join(".") === key) === true;
  const isSound = after !== undefined && !isLeft && isDeepStrictEqual(others(before, key), others(after, key));
  if (edited === undefined || after === undefined || !isSound) {
    const message = `cannot be ${verb} without changing what other keys mean; edit the file by hand`;
    return no([{ file: source.file, line: 0, column: 0, key, message }]);
  }
  const known = new Set(before.problems.map(words));
  const fresh = after.problems.filter((problem) => !known.has(words(problem)));
  return fresh.length === 0 ? ok(edited) : no(fresh);
}

interface State {
  readonly problems: readonly ConfigProblem[];
  readonly settings: readonly Setting[];
}

async function stateOf(text: string, source: Source): Promise<State> {
  const findings = noFindings();
  const settings = await settingsOf(text, source, findings);
  assemble(settings, "project", findings);
  return { problems: printable(findings.problems), settings };
}

/** What all other keys are set to: a new key can change them when the file still uses old names. */
function others({ settings }: State, key: string): ReadonlyMap<string, unknown> {
  return new Map(settings.map(({ path, value }) => [path.join("."), value] as const).filter(([name]) => name !== key));
}

const words = (problem: ConfigProblem): string => `${problem.key} ${problem.message}`;

/**
 * Changes only the lines it must; where the text is too unusual for that, the YAML library writes it anew. An anchor or
 * alias can tie keys together, so the outcome is compared: exactly this key has changed, or nothing is done.
 */
async function put(text: string, path: readonly string[], value: unknown): Promise<string | undefined> {
  const { inlineYaml, parseYaml, rewriteYaml } = await import("./yaml.ts");
  const tree = parseYaml(text).tree;
  const wanted = withValue(tree === undefined ? null : dataOf(tree), path, value);
  const isWanted = (edited: string | undefined): edited is string => {
    const result = edited === undefined ? undefined : parseYaml(edited);
    return result?.tree !== undefined && result.errors.length === 0 && isDeepStrictEqual(dataOf(result.tree), wanted);
  };
  const spliced = splice({ text, tree, path, inline: inlineYaml(value ?? null) });
  if (isWanted(spliced)) return spliced;
  const rewritten = rewriteYaml(text, path, value ?? null);
  return isWanted(rewritten) ? rewritten : undefined;
}

/**
 * Takes the lines of the key out, and with them the headers above it that would have nothing below them, a comment
 * included. Where the text is too unusual for that, the YAML library writes it anew.
 */
async function take(text: string, path: readonly string[]): Promise<string | undefined> {
  const { parseYaml, withoutYaml } = await import("./yaml.ts");
  const tree = parseYaml(text).tree;
  if (tree === undefined || treeAt(tree, path) === undefined) return text;
  const wanted = withoutKey(dataOf(tree), path);
  const isWanted = (edited: string | undefined): edited is string => {
    const result = edited === undefined ? undefined : parseYaml(edited);
    const data = result?.tree === undefined ? null : dataOf(result.tree);
    return result?.errors.length === 0 && isDeepStrictEqual(withoutEmpty(data), withoutEmpty(wanted));
  };
  for (let depth = 1; depth <= path.length; depth++) {
    const edited = withoutLines(text, tree, path.slice(0, depth), depth === path.length);
    if (isWanted(edited)) return edited;
  }
  const rewritten = withoutYaml(text, path);
  return isWanted(rewritten) ? rewritten : undefined;
}

/** Undefined where the entry does not stand on lines of its own, or a comment would go that is not about the key. */
function withoutLines(text: string, tree: Tree, path: readonly string[], isKey: boolean): string | undefined {
  const entry = entryOf(treeAt(tree, path.slice(0, -1)), path.at(-1) ?? "");
  if (entry === undefined) return undefined;
  const rows = text.split("\n");
  const first = entry.line - 1;
  const header = rows[first]?.slice(0, entry.column - 1);
  if (header?.trim() !== "") return undefined;
  const last = Math.max(first, text.slice(0, endOf(text, entry.value)).split("\n").length - 1);
  if (!isKey && rows.slice(first, last + 1).some((row) => row.includes("#"))) return undefined;
  // A comment below the header that is indented like the entries of the section belongs to the section.
  const next = rows[last + 1];
  if (!isKey && next !== undefined && /^\s+#/.test(next)) return undefined;
  return [...rows.slice(0, first), ...rows.slice(last + 1)].join("\n");
}

/** Where the last thing of a value ends. What the parser counts to a section may hold comments that follow it. */
function endOf(text: string, value: Tree): number {
  const inside =
    value.kind === "section" ? value.entries.map((entry) => entry.value) : value.kind === "list" ? value.items : [];
  const last = inside.at(-1);
  if (last !== undefined && text.slice(value.start, value.start + 1).match(/[[{]/) === null) return endOf(text, last);
  const end = Math.max(value.start, value.end);
  return text[end - 1] === "\n" ? end - 1 : end;
}

function withoutKey(data: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path;
  if (typeof data !== "object" || data === null || Array.isArray(data) || first === undefined) return data;
  const inside = new Map<string, unknown>(Object.entries(data));
  if (rest.length === 0) inside.delete(first);
  else inside.set(first, withoutKey(inside.get(first), rest));
  return Object.fromEntries(inside);
}

/** A section that holds nothing means the same as none. */
function withoutEmpty(data: unknown): unknown {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  const left = Object.entries(data).flatMap(([name, value]) => {
    const inside = withoutEmpty(value);
    return inside === null ? [] : [[name, inside] as const];
  });
  return left.length === 0 ? null : Object.fromEntries(left);
}

interface Cut {
  readonly text: string;
  readonly tree: Tree | undefined;
  readonly path: readonly string[];
  readonly inline: string;
}

function splice({ text, tree, path, inline }: Cut): string | undefined {
  const existing = tree && treeAt(tree, path);
  if (existing !== undefined) return replace(text, existing, inline);

  let level: Tree | undefined = tree;
  let header: Entry | undefined;
  let depth = 0;
  for (; depth < path.length - 1; depth++) {
    const entry = entryOf(level, path[depth] ?? "");
    if (entry === undefined) break;
    header = entry;
    level = entry.value;
  }
  const indent = header === undefined ? 0 : indentBelow(header);
  if (indent === undefined) return undefined;
  const lines = path.slice(depth).map((part, i, rest) => {
    const last = i === rest.length - 1;
    return `${" ".repeat(indent + 2 * i)}${part}:${last ? ` ${inline}` : ""}\n`;
  });
  return header === undefined ? append(text, tree, lines.join("")) : insertAfterLine(text, header.line, lines.join(""));
}

function replace(text: string, existing: Tree, inline: string): string | undefined {
  const old = text.slice(existing.start, existing.end);
  if (existing.kind !== "leaf" && !old.startsWith("[")) return undefined;
  // Text over several lines ends where its block ends; cutting there would take the next comment along.
  if (old === "" || old.includes("\n")) return undefined;
  return text.slice(0, existing.start) + inline + text.slice(existing.end);
}

/** How far the children of a section are indented; undefined when it has no lines of its own to add to. */
function indentBelow({ column, value }: Entry): number | undefined {
  if (value.kind === "leaf") return value.value === null && value.start === value.end ? column + 1 : undefined;
  const first = value.kind === "section" && value.block ? value.entries[0] : undefined;
  return first === undefined ? undefined : first.column - 1;
}

function append(text: string, tree: Tree | undefined, lines: string): string | undefined {
  if (tree !== undefined && !(tree.kind === "section" && tree.block)) return undefined;
  return (text === "" || text.endsWith("\n") ? text : `${text}\n`) + lines;
}

/** Right below the header, because a comment above the first child belongs to that child. */
function insertAfterLine(text: string, line: number, lines: string): string {
  const rows = text.split("\n");
  const fitting = text.includes("\r\n") ? lines.replaceAll("\n", "\r\n") : lines;
  return `${rows.slice(0, line).join("\n")}\n${fitting}${rows.slice(line).join("\n")}`;
}

function withValue(data: unknown, path: readonly string[], value: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value ?? null;
  const inside = typeof data === "object" && data !== null && !Array.isArray(data) ? data : {};
  const below = new Map<string, unknown>(Object.entries(inside)).get(first);
  return { ...inside, [first]: withValue(below, rest, value) };
}
