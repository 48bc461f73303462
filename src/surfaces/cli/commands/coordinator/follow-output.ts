import { visibleLine } from "../../../../domain/text/visible.ts";
import type { HeadQuestion } from "../../../../usecases/coordinators/find.ts";
import { describeRefusal } from "../../../shared/refusals.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";
import { rest } from "../../rest.ts";

export const defaultIntervalMs = 2_000;
/** More than anybody could read of one look. */
const mostLines = 10_000;

export interface FollowOptions {
  readonly question: HeadQuestion;
  /** The place to go on from. */
  readonly after: number;
  readonly intervalMs: number;
}

/** Tells what the agent says from here on, until Ctrl-C or until it has ended. */
export async function followOutput(app: App, io: Io, { question, after, intervalMs }: FollowOptions): Promise<void> {
  const over = new AbortController();
  const interrupt = (): void => over.abort();
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, interrupt);
  let place = after;
  while (!over.signal.aborted) {
    const found = await app.call("coordinator.output", { ...question, lines: mostLines, after: place });
    if (!found.ok) {
      io.warn(`stopped following: ${describeRefusal(found.refusal).message}`);
      break;
    }
    for (const { text } of found.value.lines) io.say(visibleLine(text));
    place = found.value.cursor;
    if (found.value.ended) {
      io.say(`${found.value.agentName} has ended.`);
      break;
    }
    await rest(intervalMs, over.signal);
  }
  for (const signal of signals) process.off(signal, interrupt);
}
