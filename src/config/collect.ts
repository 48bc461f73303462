import { findKey, isPlainName, type KnownKey, type Level, nearestKey, topLevel } from "./keys.ts";
import type { ConfigProblem, Findings, Layer, Origin, Place } from "./problem.ts";
import { type Complain, readValue } from "./read.ts";
import { type Entry, entryOf, type Section, type Tree, treeOf } from "./tree.ts";
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

/** Reads one value. A value that does not fit becomes a problem. */
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

/** Told once per old name found. */
type Notice = (entry: Entry, key: string, message: string) => void;

/** Reads a file written for an earlier version: old names are moved to today's, each with a notice. */
function migrate(tree: Tree, notice: Notice): Tree {
  if (tree.kind !== "section") return tree;
  return dropRoot(shiftTiers(adoptTracker(tree, notice), notice), notice);
}

const trackers = ["beads", "seeds"];

function adoptTracker(tree: Section, notice: Notice): Section {
  const old = tree.entries.filter((entry) => trackers.includes(entry.key));
  const first = old[0];
  if (first === undefined) return tree;
  const rest = tree.entries.filter((entry) => !old.includes(entry));
  const taken = entryOf(tree, "taskTracker") !== undefined;
  for (const entry of old) {
    const unused = taken || entry !== first;
    notice(
      entry,
      entry.key,
      unused ? "is ignored: taskTracker says which one is used" : `is now taskTracker.backend: ${entry.key}`,
    );
  }
  if (taken) return { ...tree, entries: rest };
  const enabled = entryOf(first.value, "enabled");
  const { line, column } = first;
  const backend: Entry = { key: "backend", line, column, value: { ...treeOf(first.key), line, column } };
  const inside: Section = { ...tree, entries: enabled === undefined ? [backend] : [backend, enabled] };
  return { ...tree, entries: [...rest, { ...first, key: "taskTracker", value: inside }] };
}

const tierNames: Readonly<Record<string, string>> = {
  tier1Enabled: "tier0Enabled",
  tier1IntervalMs: "tier0IntervalMs",
  tier2Enabled: "tier1Enabled",
};

/**
 * The tiers were once counted from 1. Only `tier1IntervalMs` gives such a file away: it exists in no other naming, and
 * files of that time were written with all keys. `tier1Enabled` alone means what it says today.
 */
function shiftTiers(tree: Section, notice: Notice): Section {
  const watchdog = entryOf(tree, "watchdog");
  const has = (key: string) => entryOf(watchdog?.value, key) !== undefined;
  if (!has("tier1IntervalMs") || has("tier0Enabled") || has("tier0IntervalMs")) return tree;
  return within(tree, "watchdog", (entry) => {
    const name = tierNames[entry.key];
    if (name === undefined) return entry;
    notice(entry, `watchdog.${entry.key}`, `is now watchdog.${name}`);
    return { ...entry, key: name };
  });
}

function dropRoot(tree: Section, notice: Notice): Section {
  return within(tree, "project", (entry) => {
    if (entry.key !== "root") return entry;
    notice(entry, "project.root", "is no longer read: the project is where .overstory is; remove the line");
    return undefined;
  });
}

function within(tree: Section, name: string, change: (entry: Entry) => Entry | undefined): Section {
  const entries = tree.entries.map((section) => {
    if (section.key !== name || section.value.kind !== "section") return section;
    const kept = section.value.entries.map(change).filter((entry) => entry !== undefined);
    return { ...section, value: { ...section.value, entries: kept } };
  });
  return { ...tree, entries };
}
