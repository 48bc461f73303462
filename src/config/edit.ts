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
  if (found === undefined) {
    const unused = whyNoKey(key);
    if (unused !== undefined) return no([{ ...at, message: unused }]);
    const nearest = nearestKey(key);
    const message = "is not a known key";
    return no([nearest === undefined ? { ...at, message } : { ...at, message, nearest }]);
  }
  const broken = jsonProblemOf(found.known.spec, typed);
  if (broken !== undefined) return no([{ ...at, message: broken }]);
  const findings = noFindings();
  const source = { layer: "project", file } as const;
  const setting = read(found.known, found.path, treeOfText(found.known.spec, typed), source, findings);
  if (setting === undefined) return no(printable(findings.problems));

  const before = await stateOf(text, source);
  const illegible = before.problems.filter((problem) => problem.key === "");
  if (illegible.length > 0) return no(illegible);
  const edited = await put(text, found.path, asWritten(found.known.spec, setting.value));
  const after = edited === undefined ? undefined : await stateOf(edited, source);
  if (edited === undefined || after === undefined || !isDeepStrictEqual(others(before, key), others(after, key))) {
    return no([{ ...at, message: "cannot be set without changing what other keys mean; edit the file by hand" }]);
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
