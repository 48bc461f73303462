import { troubleCommands, troubledAgentView } from "../../../contract/views/agent.ts";
import { decisionView, messageView, questionView, replyCommand } from "../../../contract/views/mail.ts";
import { statusOf } from "../../../domain/agent/status.ts";
import { mergeRef } from "../../../domain/merge/entry.ts";
import { mergeAsked } from "../../../domain/merge/outcome-mail.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import { quoted, visibleLine } from "../../../domain/text/visible.ts";
import type { MessageView } from "../../../usecases/mail/view.ts";
import type { OpenDecision, OpenQuestion } from "../../../usecases/operator/decisions.ts";
import type { TroubledAgent, UnhandedBranch } from "../../../usecases/operator/troubled-agents.ts";
import type { App } from "../app.ts";
import type { Handler, Paint } from "../command.ts";
import { ago, counted } from "../format.ts";
import { isOn } from "../given.ts";
import { hintLine, warningLine } from "../marks.ts";
import { lettersAsViews, messageLines } from "./mail.ts";

export const inbox: Handler = async ({ app, flags, io }) => {
  const asked = await app.call("operator.inbox", {});
  if (!asked.ok) return asked;
  const isPiped = !io.json && !isOn(flags.read) && io.isPiped();
  const leavesUnread = isOn(flags.peek) || isPiped;
  const mail = leavesUnread ? await peeked(app) : await taken(app);
  if (!mail.ok) return mail;
  const { decisions, questions, troubled, unhanded } = asked.value;
  const { remaining, shown } = mail.value;
  const names = troubled.map(({ agent }) => agent.name);
  const above = [...decisions, ...questions];
  const messages = mail.value.messages.filter((view) => !isShownAbove(view, above, names));
  const { paint } = io;
  const now = Date.now();
  const blocks = [
    ...section(paint, counted(decisions.length, "decision"), decisions, (one) => decisionBlock(paint, one, now)),
    ...section(paint, counted(questions.length, "question"), questions, (one) => questionBlock(paint, one, now)),
    ...section(paint, counted(troubled.length, "agent in trouble", "agents in trouble"), troubled, (one) =>
      troubledBlock(paint, one, now),
    ),
    ...section(paint, counted(unhanded.length, "branch", "branches"), unhanded, unhandedWords),
    ...mailHeading(messages.length, mail.value.messages.length - messages.length).map((line) => paint.bold(line)),
    ...messages.map((view) => messageLines(paint, view).join("\n")),
    ...(remaining === 0
      ? []
      : [`${remaining} more: ${leavesUnread ? "see ov mail list --to operator --unread" : "run ov inbox again"}.`]),
  ];
  if (isPiped && !isOn(flags.peek) && mail.value.messages.length > 0) {
    io.say("The mail stays unread, because this goes to a pipe; --read counts it as read.");
  }
  return ok({
    json: {
      decisions: decisions.map(decisionView),
      questions: questions.map(questionView),
      troubled: troubled.map(troubledAgentView),
      unhanded,
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
  readonly messages: readonly MessageView[];
  readonly remaining: number;
  /** Says that it was really shown. */
  readonly shown?: () => Promise<void>;
}

/** As many as one look takes out of the inbox. */
const mostPeeked = 100;

async function peeked(app: App): Promise<Result<Mail, Refusal>> {
  const found = await app.call("mail.list", { to: "operator", unread: true, limit: mostPeeked });
  if (!found.ok) return found;
  const { messages, more } = found.value;
  if (!more) return ok({ messages, remaining: 0 });
  const peeked = await app.call("mail.peek", {});
  return peeked.ok ? ok({ messages, remaining: peeked.value.unread - messages.length }) : peeked;
}

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

/** One decision with everything needed to make it. Other people's text stands behind a bar. */
export function decisionBlock(paint: Paint, decision: OpenDecision, now: number): string {
  const { id, from, subject, context, options, deadline, createdAt } = decision;
  return [
    `${paint.bold(paint.yellow("?"))} ${paint.accent(id)} ${visibleLine(from)} ${paint.dim(`asked ${ago(createdAt, now)}`)}`,
    `  ${visibleLine(subject)}`,
    ...quoted(context).map((line) => `  ${line}`),
    ...(options.length === 0 ? [] : [`  Options: ${options.map((option) => visibleLine(option)).join(" | ")}`]),
    ...(deadline === null ? [] : [`  Answer before: ${visibleLine(deadline)}`]),
    ...(decision.kind === "merge"
      ? mergeCommands(id).map((command) => hintLine(paint, command))
      : [hintLine(paint, `ov decide ${shellWord(id)} ${example(options)}`)]),
  ].join("\n");
}

/** The commands for a merge that waits: look at it, approve it, or send it back. */
const mergeCommands = (id: string): readonly string[] => [
  `what it changes: ov merge diff ${id.replace(/^merge:/, "")}`,
  `let it land: ov decide ${id} approve`,
  `send it back: ov decide ${id} reject --note "<what is wrong>"`,
];

/** One question with the command that answers it. */
function questionBlock(paint: Paint, question: OpenQuestion, now: number): string {
  const { id, from, subject, body, createdAt } = question;
  return [
    `${paint.bold(paint.yellow("?"))} ${paint.accent(id)} ${visibleLine(from)} ${paint.dim(`waits for your answer, asked ${ago(createdAt, now)}`)}`,
    `  ${visibleLine(subject)}`,
    ...quoted(body).map((line) => `  ${line}`),
    hintLine(paint, replyCommand(question)),
  ].join("\n");
}

/** An agent that failed, with what can be done about it. */
function troubledBlock(paint: Paint, { agent, problem, advice }: TroubledAgent, now: number): string {
  const task = agent.taskId === null ? "" : ` on ${visibleLine(agent.taskId)}`;
  return [
    `${paint.bold(paint.red("!"))} ${paint.accent(agent.name)} (${agent.capability}${task}) ${statusOf(agent).words} ${paint.dim(ago(agent.endedAt ?? agent.lastActivityAt, now))}`,
    ...(problem === null ? [] : [`  ${visibleLine(problem)}`]),
    ...(advice === null ? [] : [`  ${visibleLine(advice)}`]),
    ...troubleCommands(agent, advice).map((command) => hintLine(paint, command)),
  ].join("\n");
}

/** Work that nobody brought into the queue, with the command that does. */
export const unhandedWords = ({ agentName, branch }: UnhandedBranch): string =>
  `${visibleLine(agentName)} handed in ${visibleLine(branch)}, which nobody handed over: ov merge --branch ${shellWord(branch)}`;

/** The first option as it can be typed. It is somebody else's text, and this line invites to be copied into a shell. */
function example([first]: readonly string[]): string {
  if (first === undefined) return "<answer>";
  return visibleLine(first) === first ? shellWord(first) : "<option>";
}

/** For the answers of other commands: who waits for a person, in a line each. */
export const decisionLines = (paint: Paint, decisions: readonly OpenDecision[]): readonly string[] =>
  decisions.map(({ id, from, subject }) =>
    warningLine(
      paint,
      `${visibleLine(from)} needs a decision: ${visibleLine(subject)}`,
      `ov inbox, then: ov decide ${id} <option>`,
    ),
  );

export const questionLines = (paint: Paint, questions: readonly OpenQuestion[]): readonly string[] =>
  questions.map((question) =>
    warningLine(paint, `${visibleLine(question.from)} asks: ${visibleLine(question.subject)}`, replyCommand(question)),
  );

/**
 * Is this the message behind one of these decisions or questions, or about one of these agents in trouble? Each is shown once, where it can be made: the question of the merge
 * queue is the same as the approval of the merge that it asks about, and of no other.
 */
export function isShownAbove(
  view: MessageView,
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
