import { payloadFields } from "./payload.ts";
import type { Message } from "./types.ts";

/** What the worktree behind a report holds. */
export interface WorkFacts {
  readonly head: string | null;
  readonly base: string | null;
  /** Commits since the base. */
  readonly ahead: number;
  readonly dirty: boolean;
}

/** What is known about the work behind a report that nobody verified. */
export type WorkBehind =
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly why: string }
  | { readonly kind: "seen"; readonly when: "turn-ended" | "turn-running"; readonly facts: WorkFacts };

/** A worker's bare word that it is done: it counts, but its reader must be told what it is worth. */
export const isUnverified = ({ type, payload }: Pick<Message, "type" | "payload">): boolean =>
  type === "worker_done" && payloadFields(payload).unverified === true;

/** One line that says what is behind the word, in facts and not in judgement. */
export function workLine(work: WorkBehind): string {
  if (work.kind === "none") return `its sender has no worktree of its own; ${noGate}`;
  if (work.kind === "unknown") return `${work.why}; ${noGate}`;
  const { head, base, ahead, dirty } = work.facts;
  const commits = ahead === 1 ? "1 commit" : `${ahead} commits`;
  const since = base === null ? "" : ` since ${short(base)}`;
  const tip = head === null ? "" : `, head ${short(head)}`;
  const rest = dirty ? "uncommitted changes in its worktree" : "nothing uncommitted";
  const when = work.when === "turn-running" ? "; its turn is still running" : "";
  return `${commits}${since}${tip}, ${rest}; ${noGate}${when}`;
}

const noGate = "no gate was run for it";

const short = (commit: string): string => commit.slice(0, 10);
