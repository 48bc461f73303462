import type { EventFact } from "../event/event.ts";

export const mailPollReasons = ["until ov mail loop", "while-not ov mail loop", "ov mail piped condition"] as const;
export type MailPollReason = (typeof mailPollReasons)[number];

/** Does this shell command wait for mail in a loop? Mail starts turns by itself, so such a loop only burns time. */
export function mailPollReason(command: unknown): MailPollReason | undefined {
  if (typeof command !== "string") return undefined;
  for (const { index, 0: keyword } of command.matchAll(/\b(?:until|while)\b/g)) {
    const loop = loopAfter(command.slice(index + keyword.length));
    if (loop === undefined || !mentionsMail.test(loop.condition) || !/\bsleep\b/.test(loop.body)) continue;
    return reasonOf(keyword, loop.condition.trim());
  }
  return undefined;
}

const longestShown = 200;

/** The event to store before the event of a tool that is about to poll for mail; undefined for any other tool. */
export function mailPollWarning(toolInput: unknown): EventFact<"mail_poll_detected"> | undefined {
  const command = commandOf(toolInput);
  const reason = mailPollReason(command);
  if (reason === undefined || command === undefined) return undefined;
  const shown = command.length > longestShown ? `${command.slice(0, longestShown)}…` : command;
  const message = `waits for mail in a shell loop (${reason}); ending the turn is enough, mail starts the next: ${shown}`;
  return { type: "mail_poll_detected", level: "warn", data: { reason, command, message } };
}

const mentionsMail = /\bov\s+mail\s+(?:check|list)\b/;

interface Loop {
  readonly condition: string;
  readonly body: string;
}

/** Condition and body of the loop whose keyword was just read: up to the `do` of its own, then to the `done` of that. */
function loopAfter(text: string): Loop | undefined {
  let depth = 0;
  let condition: string | undefined;
  let bodyStart = 0;
  for (const match of text.matchAll(/[;\n]\s*(do|done)\b/g)) {
    const word = match[1];
    const end = match.index + match[0].length;
    if (word === "do") depth++;
    else depth--;
    if (condition === undefined) {
      if (word === "done") return undefined;
      condition = text.slice(0, match.index);
      bodyStart = end;
    }
    if (depth === 0) return { condition, body: text.slice(bodyStart, match.index) };
  }
  return undefined;
}

function reasonOf(keyword: string, condition: string): MailPollReason {
  if (keyword === "until" && /^ov\s+mail\b/.test(condition)) return "until ov mail loop";
  if (keyword === "while" && /^!\s*ov\s+mail\b/.test(condition)) return "while-not ov mail loop";
  return "ov mail piped condition";
}

function commandOf(toolInput: unknown): string | undefined {
  if (typeof toolInput === "string") return toolInput;
  if (typeof toolInput !== "object" || toolInput === null || !("command" in toolInput)) return undefined;
  return typeof toolInput.command === "string" ? toolInput.command : undefined;
}
