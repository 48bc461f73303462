import { type Entry, entryOf, type Section, type Tree, treeOf } from "./tree.ts";

/** Told once per old name found. */
export type Notice = (entry: Entry, key: string, message: string) => void;

/** Reads a file written for an earlier version: old names are moved to today's, each with a notice. */
export function migrate(tree: Tree, notice: Notice): Tree {
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
