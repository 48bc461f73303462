import type { AgentEvent, Letter } from "../../api/types.ts";
import { count } from "../../state/words.ts";
import { type TimelineRow, timelineRows } from "../agent/timeline-rows.ts";

/** What a person reads of a conversation: letters of both sides, what the agent said, and what it did, folded. */
export type ConversationRow =
  | { readonly kind: "letter"; readonly id: string; readonly at: string; readonly letter: Letter }
  | { readonly kind: "said"; readonly id: string; readonly at: string; readonly text: string }
  | { readonly kind: "failed"; readonly id: string; readonly at: string; readonly text: string }
  | { readonly kind: "did"; readonly id: string; readonly at: string; readonly steps: readonly Step[] };

export interface Step {
  readonly id: string;
  readonly at: string;
  readonly words: string;
  readonly sort: "tool" | "mail" | "other";
}

/** Oldest first. */
export function conversationRows(
  letters: readonly Letter[],
  events: readonly AgentEvent[],
): readonly ConversationRow[] {
  const rows: ConversationRow[] = [
    ...letters.map((letter): ConversationRow => ({ kind: "letter", id: letter.id, at: letter.createdAt, letter })),
    ...timelineRows(events).flatMap(rowOf),
  ];
  return folded(rows.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)));
}

function rowOf(row: TimelineRow): readonly ConversationRow[] {
  const { id, at } = row;
  const did = (...steps: readonly Step[]): readonly ConversationRow[] => [{ kind: "did", id, at, steps }];
  switch (row.kind) {
    case "text":
      return row.text.trim() === "" ? [] : [{ kind: "said", id, at, text: row.text }];
    case "error":
      return [{ kind: "failed", id, at, text: row.event.text }];
    case "tool":
      return did({ id, at, words: `${row.call.tool} ${row.call.summary}`, sort: "tool" });
    case "explored":
      return did(
        ...row.calls.map(
          (call): Step => ({ id: call.id, at: call.at, words: `${call.tool} ${call.summary}`, sort: "tool" }),
        ),
      );
    case "mail":
      return did({ id, at, words: row.event.text, sort: "mail" });
    case "state":
      // The result of a turn repeats what was said last.
      if (row.event.type === "result") return [];
      return did({ id, at, words: row.event.text, sort: "other" });
    case "turn":
    case "thinking":
      return [];
  }
}

/** What was done between two texts is one line. */
function folded(rows: readonly ConversationRow[]): readonly ConversationRow[] {
  const out: ConversationRow[] = [];
  for (const row of rows) {
    const last = out.at(-1);
    if (row.kind === "did" && last?.kind === "did")
      out[out.length - 1] = { ...last, steps: [...last.steps, ...row.steps] };
    else out.push(row);
  }
  return out;
}

/** `4 tools, 1 mail`. */
export function didWords(steps: readonly Step[]): string {
  const of = (sort: Step["sort"]): number => steps.filter((step) => step.sort === sort).length;
  return [
    ...(of("tool") > 0 ? [count(of("tool"), "tool")] : []),
    ...(of("mail") > 0 ? [count(of("mail"), "mail")] : []),
    ...(of("other") > 0 ? [count(of("other"), "event")] : []),
  ].join(", ");
}
