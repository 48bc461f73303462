import { payloadFields } from "./payload.ts";
import { isPressing, type Message } from "./types.ts";

/** A message as one recipient gets it. */
export interface Letter {
  readonly message: Message;
  /** The sender's capability, or null for the operator, the engine and strangers. */
  readonly capability: string | null;
  readonly redelivered: boolean;
  /** The state of the work behind an unverified report; absent for all other mail. */
  readonly unverified?: string;
  /** Changes since the message was written, at the moment it is handed over. */
  readonly since?: string;
  /** Shown in full, even if its sender wrote again later: the message counts by itself. */
  readonly whole?: boolean;
}

export interface FoldedLetter extends Letter {
  /** Older progress reports that this one replaces, oldest first. */
  readonly folded: readonly Message[];
}

/**
 * Keeps of several progress reports by one sender about one task, or else with one subject, only the newest, which names
 * the others. The engine tells different things about one task, so for its news the subject counts as well. Answers,
 * questions in disguise, pressing mail and mail that counts by itself ask for an action one by one, so they never fold.
 */
export function foldStatus(letters: readonly Letter[]): readonly FoldedLetter[] {
  const reports = new Map<string, Message[]>();
  for (const letter of letters) {
    const { message } = letter;
    const key = reportKey(letter);
    if (key !== null) reports.set(key, [...(reports.get(key) ?? []), message]);
  }
  return letters.flatMap((letter) => {
    const key = reportKey(letter);
    const same = key === null ? [letter.message] : (reports.get(key) ?? []);
    const older = same.filter(({ seq }) => seq !== letter.message.seq).sort((a, b) => a.seq - b.seq);
    const isNewest = older.every(({ seq }) => seq < letter.message.seq);
    return isNewest ? [{ ...letter, folded: older }] : [];
  });
}

function reportKey({ message, whole }: Letter): string | null {
  if (whole === true) return null;
  const plain = message.type === "status" && !isPressing(message.priority);
  if (!plain || message.replyTo !== null || message.expectsReply) return null;
  const { taskId } = payloadFields(message.payload);
  const task = typeof taskId === "string" ? taskId : null;
  const isProgress = task !== null && message.fromAgent !== "system";
  return JSON.stringify([message.fromAgent, task, isProgress ? null : message.subject]);
}

/** What the worktree behind a report holds. */
interface WorkFacts {
  readonly head: string | null;
  readonly base: string | null;
  /** Commits since the base. */
  readonly ahead: number;
  readonly dirty: boolean;
}

/** The facts about the work behind an unverified report. */
export type WorkBehind =
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly why: string }
  | { readonly kind: "seen"; readonly when: "turn-ended" | "turn-running"; readonly facts: WorkFacts };

/** A worker's claim that it is done, without a completion. The claim counts, but its reader must be told the facts. */
export const isUnverified = ({ type, payload }: Pick<Message, "type" | "payload">): boolean =>
  type === "worker_done" && payloadFields(payload).unverified === true;

/** One line with the facts behind a claim, without a judgement. */
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
