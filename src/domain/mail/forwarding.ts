import { payloadFields } from "./payload.ts";
import type { Message } from "./types.ts";

/** The note below mail whose addressee has ended: its reader acts in place of the addressee, where it asks anything. */
export function forwardNote(addressee: string, message: Pick<Message, "type" | "payload">): string {
  const asked = asksNothing(message) ? "" : `. What it asks of ${addressee} is for you to do`;
  return `\n\n[forwarded: ${addressee}, to whom it was sent, has ended${asked}]`;
}

/** News of a landing asks for something only where tasks can be started because of it. */
function asksNothing({ type, payload }: Pick<Message, "type" | "payload">): boolean {
  if (type !== "merged") return ["result", "spec_ready"].includes(type);
  const { readyTasks } = payloadFields(payload);
  return !Array.isArray(readyTasks) || readyTasks.length === 0;
}

/** The words of a message without the note that it was forwarded. */
export const withoutForwarding = (body: string): string => body.replace(note, "");

export const isForwarded = (body: string): boolean => note.test(body);

const note = /\n\n\[forwarded: [^\n]*\]$/;
