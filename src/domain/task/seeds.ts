import { formatLine, parseLine } from "./seeds-line.ts";
import type { SeedsRecord } from "./seeds-record.ts";

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
 * What a file should hold after an export: our records, with the unknown fields the file has for them; the file's own
 * where it is newer or where we do not know the task, so that an export never destroys what was not imported yet.
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
