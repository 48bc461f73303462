import { checkAnswerView } from "../../../contract/views/gate.ts";
import { sentView } from "../../../contract/views/mail.ts";
import type { Missing, MissingKind, StoredCheck } from "../../../domain/completion/check.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { CheckReply, CheckTicket } from "../../../usecases/completions/checks.ts";
import type { SendReply } from "../../../usecases/mail/submit.ts";
import { type Exit, exits } from "../../shared/exits.ts";
import type { App } from "../app.ts";
import type { Handler, Io, Outcome, Paint } from "../command.ts";
import { isOn, text, word } from "../given.ts";
import { errorLine, hintLine, successLine } from "../marks.ts";
import { type LeftOutcome, leftOutcome, teller, untilLeft } from "../waiting.ts";

export const done: Handler = async ({ app, flags, io }) => {
  const findings = await givenFindings(app, text(flags.findings));
  const ticket = await app.call("done.request", {
    summary: word(flags.summary),
    learned: text(flags.learned),
    verdict: text(flags.verdict),
    findings,
    branch: text(flags.branch),
    expansionReason: text(flags["expansion-reason"]),
    noCode: isOn(flags["no-code"]),
    reason: text(flags.reason),
    task: text(flags.task),
    agent: text(flags.agent),
  });
  return ticket.ok ? finishOutcome(app, io, ticket.value) : ticket;
};

/** Waits for the answer to a finish. `mail` is the message by which it was asked for, if it was not `ov done`. */
export async function finishOutcome(
  app: App,
  io: Io,
  { id, attached }: CheckTicket,
  mail?: SendReply,
): Promise<Result<Outcome, Refusal>> {
  if (attached) io.say("The same work is being checked already; waiting for its answer.");
  const answer = await untilAnswered(app, io, id);
  if (!answer.ok) return answer;
  if (answer.value === undefined) return ok(leftCheck(id));
  const words = { yes: "Done: your work was accepted and reported.", attached };
  const outcome = answerOutcome(io.paint, answer.value, words);
  const sent = mail === undefined ? {} : sentView({ ...mail, id: answer.value.messageId });
  return ok({ ...outcome, json: { ...sent, ...outcome.json }, ...confirmation(app, answer.value) });
}

/** Mail that a refusal shows counts as read once it was printed. What cannot be confirmed is shown again. */
function confirmation(app: App, { check }: CheckReply): Pick<Outcome, "afterPrint"> {
  const mail = check.problem.find((one) => one.mail !== undefined)?.mail;
  if (mail === undefined) return {};
  const { by, messages } = mail;
  return { afterPrint: async () => void (await app.call("mail.delivered", { by, messages })) };
}

/** Findings that are the name of a file are what stands in it. */
async function givenFindings(app: App, typed: string | undefined): Promise<string | undefined> {
  if (typed === undefined || typed.includes("\n") || typed.length > longestPath) return typed;
  const read = await app.call("file.read", { path: typed });
  // What cannot be read as a file was meant as text.
  return read.ok && read.value.text !== undefined ? read.value.text : typed;
}

const longestPath = 1024;

interface AnswerWords {
  /** Said when the answer is yes. */
  readonly yes: string;
  readonly attached: boolean;
}

/** The answer to a stored check: the proof, or every missing point. */
export function answerOutcome(paint: Paint, reply: CheckReply, { yes, attached }: AnswerWords): Outcome {
  const { check, receipt } = reply;
  const isYes = check.status === "done";
  const json = {
    ...(isYes ? {} : { success: false, error: joined(check, "message"), hint: joined(check, "fix") }),
    ...checkAnswerView(reply, { attached }),
  };
  if (!isYes)
    return { json, text: check.problem.map((one) => problemText(paint, one)).join("\n"), exit: exitOf(check) };
  const facts = [
    ...(check.verdict === null ? [] : [`verdict: ${check.verdict.replaceAll("_", " ")}`]),
    ...(check.commitId === null ? [] : [`commit: ${check.commitId}`]),
    ...(reply.messageId === null ? [] : [`report: ${reply.messageId}`]),
    ...(check.receiptId === null ? [] : [`receipt: ${check.receiptId} (ov gate show ${check.receiptId})`]),
    ...(receipt?.gaps ?? []).map((gap) => `gap: ${gap}`),
  ];
  const lines = facts.map((fact) => hintLine(paint, visibleLine(fact)));
  return { json, text: [successLine(paint, yes), ...lines].join("\n"), quietText: check.receiptId ?? "" };
}

/** One part of every missing point. */
const joined = ({ problem }: StoredCheck, part: "message" | "fix"): string =>
  [...new Set(problem.map((one) => one[part]))].join("; ");

function problemText(paint: Paint, { message, fix, logTail, logPath, mail }: Missing): string {
  return [
    errorLine(paint, visibleLine(message)),
    ...(logTail === undefined || logTail === "" ? [] : [indented(visibleText(logTail))]),
    ...(logPath === undefined ? [] : [hintLine(paint, `whole output: ${visibleLine(logPath)}`)]),
    hintLine(paint, visibleLine(fix)),
    ...(mail === undefined ? [] : ["", visibleText(mail.text)]),
  ].join("\n");
}

const indented = (text: string): string =>
  text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");

/** A flag that was left out, a merge that was left out, or work that is not good enough. */
const exitOfKind: Partial<Record<MissingKind, Exit>> = {
  verdict: exits.usage,
  findings: exits.usage,
  branch: exits.usage,
  code: exits.usage,
  "not-merged": exits.merge,
  "lost-submodule": exits.merge,
  conflict: exits.merge,
  ref: exits.notFound,
  setup: exits.setup,
  engine: exits.unexpected,
};

function exitOf({ problem }: StoredCheck): Exit {
  const found = new Set(problem.map(({ kind }) => exitOfKind[kind] ?? exits.check));
  const [first = exits.check] = found;
  return found.size === 1 ? first : exits.check;
}

/** Waits for the answer to a stored check, and reports progress on stderr. Undefined after Ctrl-C. */
export async function untilAnswered(app: App, io: Io, id: string): Promise<Result<CheckReply | undefined, Refusal>> {
  return (await untilLeft((over) => followCheck(app, io, id, over))) ?? ok(undefined);
}

/** Ctrl-C ended the waiting alone: the engine goes on with the check. */
export const leftCheck = (id: string): LeftOutcome =>
  leftOutcome("the check", "it takes a place of the gates until it ends; see what runs: ov engine status", {
    checkId: id,
  });

async function followCheck(
  app: App,
  io: Io,
  id: string,
  signal: AbortSignal,
): Promise<Result<CheckReply | undefined, Refusal>> {
  const tell = teller(io);
  let said: string | null = null;
  const onItem = ({ progress }: StoredCheck): void => {
    if (progress === null) tell("waiting for the engine to take this up; if that lasts, see: ov engine status");
    else if (progress !== said) io.say(visibleLine(progress));
    said = progress ?? said;
  };
  return app.follow("done.follow", { id }, { onItem, signal });
}
