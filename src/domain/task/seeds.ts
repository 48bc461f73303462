import { taskId } from "../name/name.ts";
import { jsonProblem } from "../text/json-problem.ts";
import { isPriority } from "./fields.ts";
import { type MergeState, mergeStates, type Task, taskStatuses, taskTypes } from "./task.ts";

/** `problem` completes the sentence "line n ...". */
export interface SeedsProblem {
  readonly line: number;
  readonly problem: string;
}

export interface SeedsText {
  /** One per id: of several lines the latest by `updatedAt`, the last one when they are equal. In order of appearance. */
  readonly records: readonly SeedsRecord[];
  /** When there are any, nothing of the text should be used. */
  readonly problems: readonly SeedsProblem[];
}

/** Reads the whole text. Files merged line by line may hold several lines for one id. */
export function parseSeeds(text: string): SeedsText {
  const latest = new Map<string, SeedsRecord>();
  const problems: SeedsProblem[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const read = parseLine(line);
    if (typeof read === "string") {
      problems.push({ line: index + 1, problem: read });
      continue;
    }
    const known = latest.get(read.id);
    if (known === undefined || read.updatedAt >= known.updatedAt) latest.set(read.id, read);
  }
  return { records: [...latest.values()], problems };
}

/** The text for these records, one line each, oldest task first so that new ones are added at the end. */
export function formatSeeds(records: Iterable<SeedsRecord>): string {
  return [...records]
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    .map((record) => `${formatLine(record)}\n`)
    .join("");
}

/**
 * The content of a file after an export: our records, with the file's unknown fields. A record of the file stays if it
 * is newer or its task is unknown here, so an export never destroys work that was not imported yet.
 */
export function mergeSeeds(ours: readonly SeedsRecord[], file: readonly SeedsRecord[]): readonly SeedsRecord[] {
  const merged = new Map(file.map((record) => [record.id, record]));
  for (const record of ours) {
    const there = merged.get(record.id);
    if (there !== undefined && there.updatedAt > record.updatedAt) continue;
    merged.set(record.id, { ...record, extra: { ...there?.extra, ...record.extra } });
  }
  return [...merged.values()];
}

/** A record as one line, without the fields that are empty. */
function formatLine(record: SeedsRecord): string {
  const { own } = record;
  const line: Record<string, unknown> = {
    id: record.id,
    title: record.title,
    status: record.status,
    type: record.type,
    priority: record.priority,
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    closedAt: iso(record.closedAt),
    closeReason: record.closeReason,
    description: record.description,
    assignee: record.assignee,
    labels: record.labels,
    blocks: record.blocks,
    blockedBy: record.blockedBy,
    mergeState: own?.mergeState,
    claimedBy: own?.claimedBy,
    claimExpires: iso(own?.claimExpires ?? null),
    parentId: own?.parentId,
    files: own?.files,
    shares: own?.shares,
  };
  const isEmpty = (value: unknown): boolean =>
    value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  const filled = Object.entries(line).filter(([, value]) => !isEmpty(value));
  return JSON.stringify({ ...Object.fromEntries(filled), ...record.extra }).replace(unprintable, escaped);
}

/** The record in a line, or its problem, completing the sentence "line n ...". */
function parseLine(line: string): SeedsRecord | string {
  try {
    return recordOf(objectOf(line));
  } catch (error) {
    if (error instanceof LineProblem) return error.message;
    throw error;
  }
}

/** Characters JSON leaves as they are although a terminal obeys them or an editor breaks the line there. */
const unprintable = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const knownFields: ReadonlySet<string> = new Set([
  ...["id", "title", "status", "type", "priority", "createdAt", "updatedAt", "closedAt", "closeReason"],
  ...["description", "assignee", "labels", "blocks", "blockedBy"],
  ...["mergeState", "claimedBy", "claimExpires", "parentId", "files", "shares"],
]);

/** Thrown by a field reader and turned into a value at once: twenty fields, one way out. */
class LineProblem extends Error {}

function objectOf(line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The words of `JSON.parse` differ between JavaScript engines, and do not say where the error is.
    throw new LineProblem(`is not valid JSON: ${inLine(jsonProblem(line) ?? "")}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new LineProblem("is not a JSON object");
  return { ...value };
}

/** The caller names the line of the file, so "line 1" is dropped. */
const inLine = (problem: string): string => problem.replace("line 1, ", "");

function recordOf(raw: Record<string, unknown>): SeedsRecord {
  const id = text(raw, "id");
  if (id === null || !taskId(id).ok) throw new LineProblem("has no usable id");
  const title = text(raw, "title");
  if (title === null) throw new LineProblem("has no title");
  const status = oneOf(raw, "status", taskStatuses) ?? "open";
  const priority = raw.priority ?? 2;
  if (typeof priority !== "number" || !isPriority(priority)) {
    throw new LineProblem("must have a whole number from 0 to 4 as priority");
  }
  const createdAt = time(raw, "createdAt") ?? time(raw, "updatedAt") ?? 0;
  const updatedAt = time(raw, "updatedAt") ?? createdAt;
  const isClosed = status === "closed";
  const own = ownFields(raw);
  return {
    id,
    title,
    status,
    type: oneOf(raw, "type", taskTypes) ?? "task",
    priority,
    createdAt,
    updatedAt,
    closedAt: isClosed ? (time(raw, "closedAt") ?? updatedAt) : null,
    closeReason: isClosed ? text(raw, "closeReason") : null,
    description: text(raw, "description"),
    assignee: text(raw, "assignee"),
    labels: texts(raw, "labels"),
    blocks: texts(raw, "blocks"),
    blockedBy: texts(raw, "blockedBy"),
    own: own !== null && isClosed ? { ...own, claimedBy: null, claimExpires: null } : own,
    extra: Object.fromEntries(Object.entries(raw).filter(([field]) => !knownFields.has(field))),
  };
}

/** The merge state is always written, so its presence tells that the line speaks of our fields at all. */
function ownFields(raw: Record<string, unknown>): OwnFields | null {
  const mergeState = oneOf(raw, "mergeState", mergeStates);
  if (mergeState === null) return null;
  return {
    mergeState,
    claimedBy: text(raw, "claimedBy"),
    claimExpires: time(raw, "claimExpires"),
    parentId: text(raw, "parentId"),
    files: texts(raw, "files"),
    shares: texts(raw, "shares"),
  };
}

function text(raw: Record<string, unknown>, field: string): string | null {
  const value = raw[field] ?? null;
  if (value === null || value === "") return null;
  if (typeof value !== "string") throw new LineProblem(`must have a text as ${field}`);
  return value;
}

function texts(raw: Record<string, unknown>, field: string): readonly string[] {
  const value = raw[field] ?? [];
  const isTexts = (items: unknown): items is string[] =>
    Array.isArray(items) && items.every((item) => typeof item === "string");
  if (!isTexts(value)) throw new LineProblem(`must have a list of texts as ${field}`);
  return [...new Set(value)];
}

function time(raw: Record<string, unknown>, field: string): number | null {
  const value = text(raw, field);
  const at = value === null ? null : Date.parse(value);
  if (Number.isNaN(at)) throw new LineProblem(`must have a time as ${field}`);
  return at;
}

function oneOf<T extends string>(raw: Record<string, unknown>, field: string, known: readonly T[]): T | null {
  const value = text(raw, field);
  if (value === null) return null;
  const found = known.find((item) => item === value);
  if (found === undefined) throw new LineProblem(`must have one of ${known.join(", ")} as ${field}`);
  return found;
}

/**
 * One line of the exchange format: one task as a JSON object, times in ISO-8601. `own` are the fields other trackers do
 * not have; a line without them says nothing about them.
 */
export interface SeedsRecord
  extends Pick<Task, "id" | "title" | "status" | "type" | "priority" | "createdAt" | "updatedAt" | "closedAt"> {
  readonly closeReason: string | null;
  readonly description: string | null;
  readonly assignee: string | null;
  readonly labels: readonly string[];
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  readonly own: OwnFields | null;
  /** Fields we do not know, kept as they were. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface OwnFields {
  readonly mergeState: MergeState;
  readonly claimedBy: string | null;
  readonly claimExpires: number | null;
  readonly parentId: string | null;
  readonly files: readonly string[];
  readonly shares: readonly string[];
}
