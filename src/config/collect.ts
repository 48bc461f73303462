import { findKey, isPlainName, type KnownKey, type Level, nearestKey, topLevel } from "./keys.ts";
import { migrate } from "./migrate.ts";
import type { ConfigProblem, Findings, Layer, Origin, Place } from "./problem.ts";
import { type Complain, readValue } from "./read.ts";
import type { Entry, Tree } from "./tree.ts";
import { isUnusedSection, whyIgnored } from "./unused-keys.ts";

/** A value that one layer gives to one key. */
export interface Setting {
  readonly known: KnownKey;
  readonly path: readonly string[];
  readonly value: unknown;
  readonly origin: Origin;
}

export interface Source {
  readonly layer: Layer;
  readonly file: string;
}

/** All settings of a source that can be used; everything else in it becomes a finding. */
export function collect(tree: Tree, source: Source, findings: Findings): Setting[] {
  const settings: Setting[] = [];
  const current = migrate(tree, (entry, key, message) => {
    findings.warnings.push({ ...place(source, entry), key, message });
  });
  const walk = (here: Tree, level: Level, path: readonly string[]): void => {
    if (level.key !== undefined) {
      const setting = read(level.key, path, here, source, findings);
      if (setting !== undefined) settings.push(setting);
      return;
    }
    if (here.kind === "leaf" && here.value === null) return;
    if (here.kind !== "section") {
      const example = [...level.below.keys()].find((name) => name !== "*");
      const message = `must be a section${example === undefined ? "" : ` with keys such as ${example}`}`;
      findings.problems.push({ ...place(source, here), key: path.join("."), message });
      return;
    }
    for (const entry of here.entries) {
      const next = level.below.get(entry.key) ?? (isPlainName(entry.key) ? level.below.get("*") : undefined);
      if (next !== undefined) walk(entry.value, next, [...path, entry.key]);
      else findings.warnings.push(...notRead(entry, [...path, entry.key], source));
    }
  };
  walk(current, topLevel, []);
  return settings;
}

/** Reads one value; what is wrong with it becomes a problem. */
export function read(
  known: KnownKey,
  path: readonly string[],
  tree: Tree,
  source: Source,
  findings: Findings,
): Setting | undefined {
  const key = path.join(".");
  const complain: Complain = (at, message, more = {}) => {
    const nearest = more.nearest === undefined ? {} : { nearest: more.nearest };
    findings.problems.push({ ...place(source, at), key: key + (more.within ?? ""), message, ...nearest });
  };
  const result = readValue(known.spec, tree, complain);
  if (result === undefined) return undefined;
  return { known, path, value: result.value, origin: { layer: source.layer, ...place(source, tree) } };
}

/** Warnings about an entry that is no key of the table: each key of it that waits for a later version, by its name. */
function notRead(entry: Entry, path: readonly string[], source: Source): readonly ConfigProblem[] {
  const message = whyIgnored(path);
  if (message !== undefined) return [{ ...place(source, entry), key: path.join("."), message }];
  if (!isUnusedSection(path)) return [unknown(entry, path, source)];
  const { value } = entry;
  if (value.kind === "section") return value.entries.flatMap((below) => notRead(below, [...path, below.key], source));
  if (value.kind === "leaf" && value.value === null) return [];
  return [unknown(entry, path, source)];
}

function unknown(entry: Entry, path: readonly string[], source: Source): ConfigProblem {
  const key = path.join(".");
  const at = { ...place(source, entry), key };
  if (entry.key.includes(".") && findKey(key) !== undefined) {
    return { ...at, message: "is ignored: write it as nested sections, not with dots" };
  }
  const nearest = nearestKey(key);
  const message = "is not a known key and is ignored";
  return nearest === undefined ? { ...at, message } : { ...at, message, nearest };
}

function place(source: Source, at: { readonly line: number; readonly column: number }): Place {
  return { file: source.file, line: at.line, column: at.column };
}
