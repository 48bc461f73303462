import type { DiffFile } from "../../api/types.ts";
import { type Place, placeKey, type Side } from "../../diff/diff-rows.ts";
import { createStore, useStore } from "../../state/store.ts";

export const severities = ["warning", "error", "critical"] as const;
export type Severity = (typeof severities)[number];

/** A comment that was not sent yet. */
export interface Draft extends Place {
  readonly id: string;
  readonly severity: Severity;
  readonly text: string;
  /** The line as it was when the comment was begun: by it the comment finds its line in a newer commit. */
  readonly quote: string;
  /** It is being written. */
  readonly isOpen: boolean;
}

export interface Drafts {
  /** The commit that was looked at when they were begun. */
  readonly head: string;
  readonly summary: string;
  readonly comments: readonly Draft[];
}

const place = "overstory.reviews";
const none: Drafts = { head: "", summary: "", comments: [] };
/** More reviews than a person has open at once; the oldest go first. */
const mostKept = 50;

type Kept = Readonly<Record<string, Drafts>>;

function stored(): Kept {
  try {
    return JSON.parse(localStorage.getItem(place) ?? "{}");
  } catch {
    // What cannot be read is lost already; the page must open all the same.
    return {};
  }
}

const kept = createStore<Kept>(stored());

/** What a person wrote about the work of an agent. It is kept in the browser until it is sent. */
export function useDrafts(agent: string) {
  const all = useStore(kept);
  const drafts = all[agent] ?? none;
  const change = (make: (before: Drafts) => Drafts): void => {
    const { [agent]: before = none, ...rest } = kept.get();
    const next = make(before);
    const isEmpty = next.comments.length === 0 && next.summary === "";
    const entries = Object.entries(rest).slice(-mostKept);
    kept.set(Object.fromEntries(isEmpty ? entries : [...entries, [agent, next]]));
    localStorage.setItem(place, JSON.stringify(kept.get()));
  };
  return {
    drafts,
    begin: (at: Place, quote: string, head: string) =>
      change((before) => {
        const draft: Draft = { ...at, id: crypto.randomUUID(), severity: "error", text: "", quote, isOpen: true };
        return { ...before, head, comments: [...before.comments, draft] };
      }),
    edit: (id: string, patch: Partial<Draft>) =>
      change((before) => ({
        ...before,
        comments: before.comments.map((one) => (one.id === id ? { ...one, ...patch } : one)),
      })),
    remove: (id: string) =>
      change((before) => ({ ...before, comments: before.comments.filter((one) => one.id !== id) })),
    summarize: (summary: string, head: string) => change((before) => ({ ...before, head, summary })),
    clear: () => change(() => none),
  };
}

/** A draft with the line it belongs to now; undefined: the line is not in the diff any more. */
export interface Anchored {
  readonly draft: Draft;
  readonly at: Place | undefined;
}

/** Finds the line of each draft: the same number with the same text, else the nearest line with that text. */
export function anchor(drafts: readonly Draft[], files: readonly DiffFile[]): readonly Anchored[] {
  const lines = new Map<string, ReadonlyMap<number, string>>();
  const linesOf = (path: string, side: Side): ReadonlyMap<number, string> => {
    const key = `${side}:${path}`;
    const known =
      lines.get(key) ??
      numbered(
        files.find((file) => file.path === path),
        side,
      );
    lines.set(key, known);
    return known;
  };
  return drafts.map((draft) => {
    const shown = linesOf(draft.path, draft.side);
    if (shown.get(draft.line) === draft.quote) return { draft, at: draft };
    const same = [...shown].filter(([, text]) => text === draft.quote).map(([line]) => line);
    const [nearest] = same.toSorted((a, b) => Math.abs(a - draft.line) - Math.abs(b - draft.line));
    return { draft, at: nearest === undefined ? undefined : { path: draft.path, side: draft.side, line: nearest } };
  });
}

function numbered(file: DiffFile | undefined, side: Side): ReadonlyMap<number, string> {
  const lines = new Map<number, string>();
  for (const hunk of file?.hunks ?? []) {
    let at = side === "L" ? hunk.oldStart : hunk.newStart;
    const other = side === "L" ? "+" : "-";
    for (const line of hunk.lines) {
      if (line[0] === other || line[0] === "\\") continue;
      lines.set(at++, line.slice(1));
    }
  }
  return lines;
}

/** The text of a line in the diff; empty where it is not shown. */
export const lineText = (files: readonly DiffFile[], { path, side, line }: Place): string =>
  numbered(
    files.find((file) => file.path === path),
    side,
  ).get(line) ?? "";

/** The drafts by the line that they stand below. */
export function belowLines(anchored: readonly Anchored[]): ReadonlyMap<string, readonly string[]> {
  const below = new Map<string, readonly string[]>();
  for (const { draft, at } of anchored) {
    if (at === undefined) continue;
    below.set(placeKey(at), [...(below.get(placeKey(at)) ?? []), draft.id]);
  }
  return below;
}

/** The findings as they are sent. A line that went has no number in the file as it is, so its text says where it was. */
export const findingsOf = (anchored: readonly Anchored[]) =>
  anchored
    .filter(({ draft }) => draft.text.trim() !== "")
    .map(({ draft: { path, side, line, severity, text, quote }, at }) => {
      const isRight = side === "R" && at !== undefined;
      const where = isRight
        ? ""
        : at === undefined
          ? `at the former line ${line}, "${quote.trim()}": `
          : `removed line ${line}, "${quote.trim()}": `;
      return { file: path, line: isRight ? at.line : null, severity, text: `${where}${text.trim()}` };
    });
