import { visibleLine } from "../../../../domain/text/visible.ts";
import type { HeadQuestion } from "../../../../usecases/coordinators/find.ts";
import { describeRefusal } from "../../../shared/refusals.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";
import { rest } from "../../rest.ts";
import { fileSink } from "../../sink.ts";

export const defaultIntervalMs = 2_000;
/** More than anybody could read of one look. */
const mostLines = 10_000;

export interface FollowOptions {
  readonly question: HeadQuestion;
  /** The place to go on from. */
  readonly after: number;
  readonly intervalMs: number;
}

/** Tells what the agent says from here on, until Ctrl-C, until it has ended or until nobody reads it any more. */
export async function followOutput(app: App, io: Io, { question, after, intervalMs }: FollowOptions): Promise<void> {
  const over = new AbortController();
  const interrupt = (): void => over.abort();
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, interrupt);
  const out = fileSink(1);
  // With --json the document on stdout is complete already; what follows is talk.
  const tell = (line: string): boolean => {
    if (!io.json) return out.write(`${line}\n`) === "written";
    io.say(line);
    return true;
  };
  let place = after;
  while (!over.signal.aborted) {
    const found = await app.call("coordinator.output", { ...question, lines: mostLines, after: place });
    if (!found.ok) {
      io.warn(`stopped following: ${describeRefusal(found.refusal).message}`);
      break;
    }
    if (!found.value.lines.every(({ text }) => tell(visibleLine(text)))) break;
    place = found.value.cursor;
    if (found.value.ended) {
      io.say(`${found.value.agentName} has ended.`);
      break;
    }
    await rest(intervalMs, over.signal);
  }
  for (const signal of signals) process.off(signal, interrupt);
}
