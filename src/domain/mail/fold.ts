import { payloadFields } from "./payload.ts";
import { isPressing, type Message } from "./types.ts";

/** A message as one recipient gets it. */
export interface Letter {
  readonly message: Message;
  /** The sender's capability, or null for the operator, the engine and strangers. */
  readonly capability: string | null;
  readonly redelivered: boolean;
  /** What is behind a report that nobody verified; absent for all other mail. */
  readonly unverified?: string;
}

export interface FoldedLetter extends Letter {
  /** Older progress reports that this one replaces, oldest first. */
  readonly folded: readonly Message[];
}

/**
 * Keeps of several progress reports by one sender about one task only the newest, which names the others. Answers,
 * questions in disguise and pressing mail are somebody's business one by one, so they never fold.
 */
export function foldStatus(letters: readonly Letter[]): readonly FoldedLetter[] {
  const reports = new Map<string, Message[]>();
  for (const { message } of letters) {
    const key = reportKey(message);
    if (key !== null) reports.set(key, [...(reports.get(key) ?? []), message]);
  }
  return letters.flatMap((letter) => {
    const key = reportKey(letter.message);
    const same = key === null ? [letter.message] : (reports.get(key) ?? []);
    const older = same.filter(({ seq }) => seq !== letter.message.seq).sort((a, b) => a.seq - b.seq);
    const isNewest = older.every(({ seq }) => seq < letter.message.seq);
    return isNewest ? [{ ...letter, folded: older }] : [];
  });
}

function reportKey(message: Message): string | null {
  const plain = message.type === "status" && !isPressing(message.priority);
  if (!plain || message.replyTo !== null || message.expectsReply) return null;
  const { taskId } = payloadFields(message.payload);
  return JSON.stringify([message.fromAgent, typeof taskId === "string" ? taskId : null]);
}
