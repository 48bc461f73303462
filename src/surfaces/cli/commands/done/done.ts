import { ok } from "../../../../domain/result.ts";
import type { App } from "../../app.ts";
import type { Handler } from "../../command.ts";
import { isOn, text, word } from "../../given.ts";
import { answerOutcome } from "./render.ts";
import { untilAnswered } from "./until-answered.ts";

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
    task: text(flags.task),
    agent: text(flags.agent),
  });
  if (!ticket.ok) return ticket;
  if (ticket.value.attached) io.say("The same work is being checked already; waiting for its answer.");
  const answer = await untilAnswered(app, io, ticket.value.id);
  if (!answer.ok) return answer;
  const { attached } = ticket.value;
  return ok(answerOutcome(io.paint, answer.value, { yes: "Done: your work was accepted and reported.", attached }));
};

/** Findings that are the name of a file are what stands in it. */
async function givenFindings(app: App, typed: string | undefined): Promise<string | undefined> {
  if (typed === undefined || typed.includes("\n") || typed.length > longestPath) return typed;
  const read = await app.files.readText(typed);
  // What cannot be read as a file was meant as text.
  return read.ok && read.value !== undefined ? read.value : typed;
}

const longestPath = 1024;
