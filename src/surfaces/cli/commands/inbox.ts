import { troubledAgentView } from "../../../contract/views/agent.ts";
import { budgetSoonView } from "../../../contract/views/cost.ts";
import { decisionView, messageView, questionView } from "../../../contract/views/mail.ts";
import { collisionView, pauseView } from "../../../contract/views/merge.ts";
import { priorityRank } from "../../../domain/mail/types.ts";
import { mergeRef } from "../../../domain/merge/entry.ts";
import { mergeAsked } from "../../../domain/merge/outcome-mail.ts";
import { pauseWords, resumeCommand } from "../../../domain/merge/queue-pause.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { TrackedMessage } from "../../../usecases/mail/tracked-message.ts";
import type { OpenDecision } from "../../../usecases/operator/decisions.ts";
import { counted } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Handler, Paint } from "../command.ts";
import { isOn } from "../given.ts";
import { warningLine } from "../marks.ts";
import { lettersAsViews, messageLines } from "./mail.ts";
import { blockedWords } from "./merge-render.ts";
import {
  decisionBlock,
  foreseenLines,
  leaderlessLine,
  questionBlock,
  troubledBlock,
  unhandedWords,
} from "./operator-render.ts";

export const inbox: Handler = async ({ app, flags, io }) => {
  const asked = await app.call("operator.inbox", {});
  if (!asked.ok) return asked;
  const disk = await app.call("status.showDisk", {});
  if (!disk.ok) return disk;
  const { fullDisk } = disk.value;
  const isPiped = !io.json && !isOn(flags.read) && io.isPiped();
  // Where nothing can be stored, mail cannot be counted as read.
  const leavesUnread = isOn(flags.peek) || isPiped || fullDisk !== null;
  const mail = leavesUnread ? await peeked(app) : await taken(app);
  if (!mail.ok) return mail;
  const { decisions, questions, troubled, unhanded, blocked, pauses, leaderless, budgetsSoon, collisions } =
    asked.value;
  const { remaining, shown } = mail.value;
  const names = troubled.map(({ agent }) => agent.name);
  const above = [...decisions, ...questions];
  const messages = mail.value.messages.filter((view) => !isShownAbove(view, above, names));
  const { paint } = io;
  const now = Date.now();
  const blocks = [
    ...(fullDisk === null ? [] : [warningLine(paint, visibleLine(fullDisk))]),
    ...leaderless.map((one) => leaderlessLine(paint, one)),
    ...section(paint, counted(decisions.length, "decision"), decisions, (one) => decisionBlock(paint, one, now)),
    ...section(paint, counted(questions.length, "question"), questions, (one) => questionBlock(paint, one, now)),
    ...section(paint, counted(troubled.length, "agent in trouble", "agents in trouble"), troubled, (one) =>
      troubledBlock(paint, one, now),
    ),
    ...section(paint, counted(unhanded.length, "branch", "branches"), unhanded, unhandedWords),
    ...section(paint, counted(blocked.length, "blocked merge"), blocked, (one) =>
      warningLine(paint, blockedWords(one), visibleLine(one.next)),
    ),
    ...pauses.map((pause) => warningLine(paint, visibleLine(pauseWords(pause)), resumeCommand)),
    ...foreseenLines(paint, asked.value, now),
    ...mailHeading(messages.length, mail.value.messages.length - messages.length).map((line) => paint.bold(line)),
    ...messages.map((view) => messageLines(paint, view).join("\n")),
    ...(remaining === 0
      ? []
      : [`${remaining} more: ${leavesUnread ? "see ov mail list --to operator --unread" : "run ov inbox again"}.`]),
  ];
  if (isPiped && !isOn(flags.peek) && mail.value.messages.length > 0) {
    io.say("The mail stays unread, because this goes to a pipe; --read counts it as read.");
  } else if (fullDisk !== null && !isOn(flags.peek)) {
    io.say("The mail stays unread, as with --peek, because nothing can be stored.");
  }
  return ok({
    json: {
      decisions: decisions.map(decisionView),
      questions: questions.map(questionView),
      troubled: troubled.map(troubledAgentView),
      unhanded,
      blocked,
      leaderless,
      paused: pauseView(pauses[0] ?? null),
      budgetsSoon: budgetsSoon.map(budgetSoonView),
      collisions: collisions.map(collisionView),
      fullDisk,
      messages: messages.map(messageView),
      remaining,
    },
    wraps: true,
    text: blocks.length === 0 ? "Nothing waits for you." : blocks.join("\n\n"),
    ...(shown === undefined ? {} : { afterPrint: shown }),
  });
};

/** A heading with what waits below it; nothing where nothing waits. */
const section = <T>(paint: Paint, count: string, items: readonly T[], block: (item: T) => string): readonly string[] =>
  items.length === 0 ? [] : [paint.bold(`${count} for you:`), ...items.map(block)];

/** Counts all unread messages. Messages about decisions that are shown above are counted, but not repeated. */
function mailHeading(shown: number, above: number): readonly string[] {
  if (above === 0) return shown === 0 ? [] : [`${counted(shown, "new message")}:`];
  if (shown > 0) return [`${counted(shown, "new message")}, and ${above} about what is shown above:`];
  return [`${counted(above, "new message")} about what is shown above.`];
}

interface Mail {
  readonly messages: readonly TrackedMessage[];
  readonly remaining: number;
  /** Says that it was really shown. */
  readonly shown?: () => Promise<void>;
}

/** As many as one look takes out of the inbox. */
const mostPeeked = 100;

async function peeked(app: App): Promise<Result<Mail, Refusal>> {
  const found = await app.call("mail.list", { to: "operator", unread: true, limit: mostPeeked });
  if (!found.ok) return found;
  const messages = asTaken(found.value.messages);
  const { more } = found.value;
  if (!more) return ok({ messages, remaining: 0 });
  const peeked = await app.call("mail.peek", {});
  return peeked.ok ? ok({ messages, remaining: peeked.value.unread - messages.length }) : peeked;
}

/** The newest first becomes the order of a look that takes mail out: the most urgent first, then the oldest. */
export const asTaken = <M extends Pick<TrackedMessage, "priority">>(messages: readonly M[]): readonly M[] =>
  messages.toReversed().toSorted((one, other) => priorityRank[one.priority] - priorityRank[other.priority]);

async function taken(app: App): Promise<Result<Mail, Refusal>> {
  const checked = await app.call("mail.check", {});
  if (!checked.ok) return checked;
  const { inbox: name, by, letters, remaining } = checked.value;
  return ok({
    messages: lettersAsViews(letters, name),
    remaining,
    shown: async () => {
      // A refusal is no loss: what cannot be confirmed any more is offered again, marked as redelivered.
      await app.call("mail.delivered", { agent: name, by, messages: letters.map(({ message }) => message.seq) });
    },
  });
}

/**
 * Is this the message behind one of these decisions or questions, or about one of these agents in trouble? Each is shown once, where it can be made: the question of the merge
 * queue is the same as the approval of the merge that it asks about, and of no other.
 */
export function isShownAbove(
  view: TrackedMessage,
  decisions: readonly Pick<OpenDecision, "id">[],
  troubled: readonly string[] = [],
): boolean {
  if (view.type === "worker_died") return troubled.includes(view.from);
  if (view.type === "question") return decisions.some(({ id }) => id === view.id || id === view.replyTo);
  if (view.type !== "decision_gate") return false;
  const merge = mergeAsked({ payload: view.payload, fromAgent: view.from });
  const asks = merge === undefined ? view.id : mergeRef(merge);
  return decisions.some(({ id }) => id === asks);
}
