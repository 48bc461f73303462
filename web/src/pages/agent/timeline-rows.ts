import type { AgentEvent } from "../../api/types.ts";

/** A row of the timeline. `id` stays the same while the row grows, so a person can keep it open. */
export type TimelineRow =
  | { readonly kind: "tool"; readonly id: string; readonly at: string; readonly call: Call }
  | { readonly kind: "explored"; readonly id: string; readonly at: string; readonly calls: readonly Call[] }
  | { readonly kind: "text" | "thinking"; readonly id: string; readonly at: string; readonly text: string }
  | { readonly kind: "mail" | "state" | "error"; readonly id: string; readonly at: string; readonly event: AgentEvent }
  | { readonly kind: "turn"; readonly id: string; readonly at: string; readonly words: string };

export interface Call {
  readonly id: string;
  readonly at: string;
  readonly tool: string;
  readonly summary: string;
  /** Null while it runs, and where its start was not seen. */
  readonly durationMs: number | null;
  readonly isRunning: boolean;
  /** Its turn is over, and its end was never told. */
  readonly isCut?: boolean;
  readonly failed: boolean;
  readonly said: string | null;
}

/** A text with the paths of a worktree as they are below it. */
export const belowWorktree = (text: string, worktree: string | null | undefined): string =>
  worktree ? text.replaceAll(`${worktree}/`, "") : text;

export const timelineKinds = ["text", "tools", "errors", "mail", "state"] as const;
export type TimelineKind = (typeof timelineKinds)[number];

/** The kind under which a row is found by the filter. A turn's line divides rows of every kind. */
export function kindOf(row: TimelineRow): TimelineKind | undefined {
  if (row.kind === "turn") return undefined;
  if (row.kind === "tool") return row.call.failed ? "errors" : "tools";
  if (row.kind === "explored") return "tools";
  if (row.kind === "thinking" || row.kind === "text") return "text";
  return row.kind === "error" ? "errors" : row.kind;
}

/** Says nothing that a person would look for in the timeline; costs and facts have their own tabs. */
const unseen: ReadonlySet<string> = new Set(["usage", "session_start", "session_end", "user_prompt", "turn_stop"]);
const explores = /^(read|view|cat|grep|glob|ls|list|search|find|websearch|webfetch)/i;

/**
 * The rows of these events, newest first: start and end of a call are one row, looking around is one row. Paths in the
 * worktree are shown as they are below it.
 */
export function timelineRows(events: readonly AgentEvent[], worktree?: string | null): readonly TimelineRow[] {
  const rows: TimelineRow[] = [];
  const open = new Map<string, number>();
  const each = new Map(events.map((event) => [event.seq, event]));
  for (const event of [...each.values()].toSorted((a, b) => a.seq - b.seq)) {
    if (unseen.has(event.type)) continue;
    const { at, details } = event;
    const id = String(event.seq);
    if (event.type === "tool_start" || event.type === "tool_end") addCall(rows, open, event, worktree);
    else if (event.type === "progress" || event.type === "thinking") {
      const kind = event.type === "progress" ? "text" : "thinking";
      const text = String(details.text ?? event.text);
      const last = rows.at(-1);
      // Words that follow each other are one text.
      if (last !== undefined && last.kind === kind) rows[rows.length - 1] = { ...last, text: `${last.text}${text}` };
      else rows.push({ kind, id, at, text });
    } else if (event.type === "turn_start" || event.type === "turn_end") {
      // A process that died told no end of its calls.
      for (const place of open.values()) {
        const row = rows[place];
        if (row?.kind === "tool") rows[place] = { ...row, call: { ...row.call, isRunning: false, isCut: true } };
      }
      open.clear();
      rows.push({ kind: "turn", id, at, words: event.text });
    } else {
      const isError = event.level === "error" || event.type === "guard_denied" || event.type === "hopeless";
      const kind = isError ? "error" : event.type.startsWith("mail_") ? "mail" : "state";
      rows.push({ kind, id, at, event });
    }
  }
  return folded(rows).toReversed();
}

function addCall(
  rows: TimelineRow[],
  open: Map<string, number>,
  event: AgentEvent,
  worktree: string | null | undefined,
): void {
  const { details, at } = event;
  const key = String(details.id ?? "");
  const place = event.type === "tool_end" && key !== "" ? open.get(key) : undefined;
  const begun = place === undefined ? undefined : rows[place];
  const ended = event.type === "tool_end";
  const call: Call = {
    id: begun?.id ?? String(event.seq),
    at: begun?.at ?? at,
    tool: String(details.tool ?? "tool"),
    summary: belowWorktree(String(details.summary ?? (begun?.kind === "tool" ? begun.call.summary : "")), worktree),
    durationMs: typeof details.durationMs === "number" ? details.durationMs : null,
    isRunning: !ended,
    failed: details.failed === true,
    said: details.said === undefined || details.said === null ? null : String(details.said),
  };
  if (place !== undefined && begun !== undefined) {
    rows[place] = { kind: "tool", id: begun.id, at: begun.at, call };
    open.delete(key);
    return;
  }
  if (!ended && key !== "") open.set(key, rows.length);
  rows.push({ kind: "tool", id: call.id, at: call.at, call });
}

/** Two or more calls in a row that only look around become one line. A failed or running call is never folded. */
function folded(rows: readonly TimelineRow[]): readonly TimelineRow[] {
  const out: TimelineRow[] = [];
  let looks: Call[] = [];
  const close = (): void => {
    const [first] = looks;
    if (first === undefined) return;
    if (looks.length === 1) out.push({ kind: "tool", id: first.id, at: first.at, call: first });
    else out.push({ kind: "explored", id: first.id, at: first.at, calls: looks });
    looks = [];
  };
  for (const row of rows) {
    if (row.kind === "tool" && explores.test(row.call.tool) && !row.call.failed && !row.call.isRunning) {
      looks.push(row.call);
      continue;
    }
    close();
    out.push(row);
  }
  close();
  return out;
}

/** `read 6 files, 3 searches`. */
export function exploredWords(calls: readonly Call[]): string {
  const searches = calls.filter(({ tool }) => /^(grep|glob|search|find|web|ls|list)/i.test(tool)).length;
  const reads = calls.length - searches;
  const parts = [
    ...(reads > 0 ? [`read ${reads} ${reads === 1 ? "file" : "files"}`] : []),
    ...(searches > 0 ? [`${searches} ${searches === 1 ? "search" : "searches"}`] : []),
  ];
  return parts.join(", ");
}
