import type { StepOf } from "./scenario/step.ts";
import type { ControlAnswer } from "./stream/inbox.ts";
import type { Stage } from "./tools.ts";

type AskStep = StepOf<"ask"> | StepOf<"readFile"> | StepOf<"writeFile">;

/** Asks on standard output, and waits for the answer on standard input. What it was told is a text of the turn. */
export async function ask(step: AskStep, { out, stop, inbox, diary, turn }: Stage): Promise<string | undefined> {
  const id = crypto.randomUUID();
  const answer = inbox.answerTo(id);
  await out.event({ type: "control_request", request_id: id, request: requestOf(step) });
  const told = await stop.during(answer);
  if (told === undefined) return "standard input ended before the answer came";
  diary.answer({ request: step.kind, answer: told });
  await turn.say(`${step.kind}: ${JSON.stringify(told)}`);
  return problemOf(step, told);
}

function requestOf(step: AskStep): object {
  if (step.kind === "readFile") return { subtype: "read_file", path: step.readFile };
  if (step.kind === "writeFile") return { subtype: "write_file", path: step.writeFile.file, text: step.writeFile.text };
  const { tool, input } = step.ask;
  return { subtype: "can_use_tool", tool_name: tool, input, tool_use_id: "toolu_asked" };
}

function problemOf(step: AskStep, told: ControlAnswer): string | undefined {
  const verdict = told.behavior === "allow" || told.kind === "granted" ? "allow" : "deny";
  if (step.kind === "readFile") {
    const isRight = verdict === "allow" && (step.expect === undefined || String(told.text).includes(step.expect));
    return isRight ? undefined : `reading ${step.readFile} was answered with ${JSON.stringify(told)}`;
  }
  const wanted = step.kind === "ask" ? step.ask.expect : step.expect;
  return verdict === wanted ? undefined : `expected ${wanted}, and was told ${JSON.stringify(told)}`;
}
