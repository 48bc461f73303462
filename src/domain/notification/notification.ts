import { visibleLine } from "../text/visible.ts";

/** One thing that waits for the operator, as a notification tells of it. */
export interface AttentionItem {
  /** Names the thing for ever: the operator is told once of each. */
  readonly id: string;
  readonly kind: "decision" | "approval" | "question" | "agent" | "branch" | "merge";
  /** The agent that it comes from or is about. */
  readonly from: string;
  /** One short line. An agent may have written it, so it is data and never part of a command. */
  readonly subject: string;
  readonly runId: string | null;
}

/** The items that are told together. */
export interface Notification {
  readonly project: string;
  /** In words of ours, without any text of an agent. */
  readonly title: string;
  /** Shows what waits. */
  readonly command: string;
  readonly items: readonly AttentionItem[];
}

export const notificationOf = (project: string, items: readonly AttentionItem[]): Notification => ({
  project,
  title: items.length === 1 ? "1 thing waits for you" : `${items.length} things wait for you`,
  command: "ov inbox",
  items,
});

const longestSubject = 200;

/** An item whose subject fits into one line of any display. */
export function attentionItem(item: AttentionItem): AttentionItem {
  const line = visibleLine(item.subject);
  return { ...item, subject: line.length > longestSubject ? `${line.slice(0, longestSubject - 1)}…` : line };
}
