import { logLineView } from "../../../contract/views/project.ts";
import { ok } from "../../../domain/result.ts";
import { visibleJson, visibleLine } from "../../../domain/text/visible.ts";
import type { LogLine, LogsRequest } from "../../../usecases/agents/logs.ts";
import { iso } from "../../shared/format.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import type { App } from "../app.ts";
import type { Handler, Io } from "../command.ts";
import { integer, isOn, text, word } from "../given.ts";
import { fileSink } from "../sink.ts";
import { untilInterrupted } from "../waiting.ts";

const defaultLines = 200;
/** More than anybody could read of one look. */
const mostLines = 10_000;

/** Shows the newest lines, and goes on if asked to: text for people, one document per line for programs. */
export const logs: Handler = async ({ app, args, flags, io }) => {
  const question = { name: word(args.agent), turn: text(flags.turn) };
  const found = await app.call("agent.logs", { ...question, lines: integer(flags.lines) ?? defaultLines });
  if (!found.ok) return found;
  const { agentName, lines, cursor, ended } = found.value;
  const follow = isOn(flags.follow) && !ended;
  if (lines.length === 0) io.say(`${agentName} has said nothing${ended ? "" : " yet"}.`);
  return ok({
    json: { agentName, lines: lines.map(logLineView), ended },
    text: lines.map((line) => written(line)).join("\n"),
    rows: {
      columns: ["time", "turn", "text"],
      cells: lines.map((line) => [iso(line.at), line.turnId ?? "", line.text]),
      objects: lines.map(logLineView),
    },
    ...(follow
      ? {
          afterPrint: () =>
            untilInterrupted((over) => goOn(app, io, { ...question, after: cursor, lines: mostLines }, over)),
        }
      : {}),
  });
};

/** What the agent says stands behind a bar: no line of it can pass for one of ours. */
const written = ({ type, text: line }: LogLine): string =>
  type === "progress" ? `| ${visibleLine(line)}`.trimEnd() : visibleLine(line);

/** Tells what comes, until the agent has ended, until Ctrl-C or until nobody reads it any more. */
async function goOn(app: App, io: Io, request: LogsRequest, over: AbortSignal): Promise<void> {
  const out = fileSink(1);
  const unread = new AbortController();
  const tell = (lines: readonly LogLine[]): void => {
    const said = lines
      .map((line) => `${io.json ? visibleJson(JSON.stringify(logLineView(line))) : written(line)}\n`)
      .join("");
    if (out.write(said) === "reader-gone") unread.abort();
  };
  const signal = AbortSignal.any([over, unread.signal]);
  const followed = await app.follow("agent.followLogs", request, { onItem: tell, signal });
  if (!followed.ok) io.warn(`stopped following: ${describeRefusal(followed.refusal).message}`);
}
