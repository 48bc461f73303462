import { unsure } from "../outcome.ts";
import { type Path, spelled } from "./merge-values.ts";
import type { Value } from "./value.ts";

/**
 * Gives up when one side removed or renamed a key, or took a word off a list, while the other side has just begun to name
 * it: a job that a new job waits for, a schema that a new path refers to, a script that a new script runs.
 */
export function checkDangling({ base, ours, theirs }: { base: Value; ours: Value; theirs: Value }): void {
  dangles({ base, remover: ours, namer: theirs });
  dangles({ base, remover: theirs, namer: ours });
}

interface Roles {
  readonly base: Value;
  readonly remover: Value;
  readonly namer: Value;
}

function dangles({ base, remover, namer }: Roles): void {
  const removed: Removed[] = [];
  collectRemoved(base, remover, [], removed);
  if (removed.length === 0) return;
  const fresh: string[] = [];
  collectFresh(namer, base, fresh);
  for (const { name, path, whole } of removed) {
    if (fresh.some((text) => (whole ? text === name : mentions(text, name)))) {
      unsure(`${spelled(path)} was removed or renamed on one side and is newly named on the other`);
    }
  }
}

interface Removed {
  readonly name: string;
  readonly path: Path;
  /** Only a text that is nothing else names it. */
  readonly whole: boolean;
}

function collectRemoved(was: Value, is: Value | undefined, path: Path, found: Removed[]): void {
  if (was.kind === "map" && is?.kind === "map") {
    for (const [key, value] of was.entries) {
      const here = [...path, key];
      if (is.entries.has(key)) collectRemoved(value, is.entries.get(key), here, found);
      else found.push({ name: key, path: here, whole: false });
    }
  }
  if (was.kind !== "list" || is?.kind !== "list") return;
  const known = new Set(is.items.flatMap(nameOf));
  for (const name of was.items.flatMap(nameOf)) if (!known.has(name)) found.push({ name, path, whole: false });
  const left = new Set(is.items.flatMap(wordOf));
  for (const name of was.items.flatMap(wordOf)) if (!left.has(name)) found.push({ name, path, whole: true });
}

/** The id by which other places speak of an item. */
function nameOf(item: Value): readonly string[] {
  const id = item.kind === "map" ? (item.entries.get("id") ?? item.entries.get("name")) : undefined;
  return id === undefined ? [] : wordOf(id);
}

/** A scalar that could be a name. */
function wordOf(value: Value): readonly string[] {
  const text = value.kind === "scalar" ? value.is.slice(2) : "";
  return /^[A-Za-z_][\w.-]+$/.test(text) && !/^(true|false|null|yes|no|on|off)$/.test(text) ? [text] : [];
}

/** The scalars a side has where the base has another value or none. */
function collectFresh(is: Value, was: Value | undefined, found: string[]): void {
  if (is.kind === "scalar") {
    if (was?.kind !== "scalar" || was.is !== is.is) found.push(is.is.slice(2));
  } else if (is.kind === "map") {
    for (const [key, value] of is.entries)
      collectFresh(value, was?.kind === "map" ? was.entries.get(key) : undefined, found);
  } else {
    const known = new Set(was?.kind === "list" ? was.items.flatMap(wordOf) : []);
    for (const item of is.items)
      if (!wordOf(item).some((word) => known.has(word))) collectFresh(item, undefined, found);
  }
}

/** The whole text, a step of a path in it, or what a package manager is told to run. */
function mentions(text: string, name: string): boolean {
  if (name.length < 2 || !text.includes(name)) return false;
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(^|[/.#:]|\\b(run|npm|yarn|pnpm|bun)\\s+)${literal}($|[^\\w-])`).test(text);
}
