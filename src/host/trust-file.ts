import { lstatSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { type FilterDefinition, type FilterPins, filterKeys, type HookPins } from "../domain/trust/filters.ts";
import { writeAtomically } from "./file-access.ts";

/** What the operator confirmed of the programs that a repository names, and of the attributes it has. */
export interface Trust {
  readonly filters: FilterPins;
  readonly hooks: HookPins;
  /** The digest of what shapes files besides the tracked attributes, by git directory. */
  readonly attributes: Readonly<Record<string, string>>;
}

const nothing: Trust = { filters: {}, hooks: {}, attributes: {} };

/** Nothing is confirmed where the file is missing or is not ours. */
export function readTrust(path: string): Trust {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return nothing;
  const found = parsed(readFileSync(path, "utf8"));
  return {
    filters: entriesOf(found.filters, (value) => (value === null ? null : definitionOf(value))),
    hooks: entriesOf(found.hooks, (value) => (typeof value === "string" ? value : undefined)),
    attributes: entriesOf(found.attributes, (value) => (typeof value === "string" ? value : undefined)),
  };
}

export function writeTrust(path: string, trust: Partial<Trust>): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomically(path, `${JSON.stringify({ ...nothing, ...trust }, null, 2)}\n`, 0o600);
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch (error) {
    // A file that is no JSON confirms nothing, and the next confirmation replaces it.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function entriesOf<T>(value: unknown, read: (one: unknown) => T | undefined): Readonly<Record<string, T>> {
  const entries = Object.entries(isRecord(value) ? value : {}).flatMap(([name, one]) => {
    const made = read(one);
    return made === undefined ? [] : [[name, made] as const];
  });
  // Without a prototype, so that no name means anything but what stands in the file.
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

function definitionOf(value: unknown): FilterDefinition | undefined {
  if (!isRecord(value)) return undefined;
  const text = (key: string): string | null => (typeof value[key] === "string" ? value[key] : null);
  const [clean = null, smudge = null, process = null, required = null] = filterKeys.map(text);
  return { clean, smudge, process, required };
}
