import { awaitsApproval, isOpenMerge, type MergeStatus, movableStatuses } from "../../domain/merge/entry.ts";
import { causeWords, howWords } from "../../domain/merge/words.ts";
import { standstill } from "./follow.ts";
import type { QueuedMerge } from "./read-merges.ts";

/** What the operator can do with an entry. */
const entryActions = ["approve", "reject", "move", "resume", "retry", "cancel", "undo"] as const;
type EntryAction = (typeof entryActions)[number];

/** How an entry stands, for a person. */
export interface Standing {
  /** Why it has not landed yet, what it waits for, or how it ended. */
  readonly why: string;
  /** It does not move by itself: a person has to decide, or something outside has to change. */
  readonly isStuck: boolean;
  readonly can: readonly EntryAction[];
}

/** `open`: all open entries by their number. */
export function standingOf(merge: QueuedMerge, open: ReadonlyMap<number, QueuedMerge>): Standing {
  const stuck = standstill(merge, open);
  const hasFailed = merge.entry.status === "failed" || merge.entry.status === "conflict";
  return {
    why: whyOf(merge, stuck),
    isStuck: hasFailed || (stuck !== undefined && !merge.isHeld),
    can: actionsOn(merge, stuck),
  };
}

function whyOf({ entry, waitsFor, place }: QueuedMerge, stuck: string | undefined): string {
  const { status, cause, causeDetail } = entry;
  const told = [cause === null ? "" : causeWords[cause], causeDetail?.message ?? ""].filter((part) => part !== "");
  switch (status) {
    case "failed":
    case "conflict":
      return told.join(": ");
    case "merging":
      return "is put into a train";
    case "gating":
      return "its train is being checked";
    case "merged":
      return `landed ${howWords(entry)}`;
    case "cancelled":
      return "was taken out of the queue";
    case "superseded":
      return "a newer commit of the branch took its place";
    case "reverted":
      return "landed and was taken back";
    case "pending":
    case "blocked":
      if (stuck !== undefined) return stuck;
      if (waitsFor.length > 0) return `after ${waitsFor.map((id) => `#${id}`).join(", ")}`;
      if (place === 1) return "lands next";
      return place === null ? ["is tried again soon", ...told].join(": ") : `lands as number ${place}`;
  }
}

const cancellable: readonly MergeStatus[] = ["failed", "conflict"];
const repeatable: readonly MergeStatus[] = ["failed", "conflict", "cancelled"];

function actionsOn({ entry, place, waitsFor }: QueuedMerge, stuck: string | undefined): readonly EntryAction[] {
  const isOpen = isOpenMerge(entry);
  const { status, approval } = entry;
  // In manual mode, what a parent has approved still waits for the operator.
  const waitsForWord = approval !== "operator" && place === null && waitsFor.length === 0 && stuck !== undefined;
  const possible: Readonly<Record<EntryAction, boolean>> = {
    approve: awaitsApproval(entry) || (waitsForWord && status === "pending"),
    reject: isOpen,
    move: movableStatuses.some((each) => each === status),
    resume: status === "blocked",
    retry: repeatable.includes(status),
    cancel: isOpen || cancellable.includes(status),
    undo: status === "merged",
  };
  return entryActions.filter((action) => possible[action]);
}
