import { olderLogListKeys } from "../../../contract/older-keys.ts";
import { logLineView } from "../../../contract/views/project.ts";
import { eventLevels } from "../../../domain/event/event.ts";
import { ok } from "../../../domain/result.ts";
import { visibleJson, visibleLine } from "../../../domain/text/visible.ts";
import type { LogLine, LogsRequest } from "../../../usecases/agents/logs.ts";
import { iso, timeOfDay } from "../../shared/format.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import type { App } from "../app.ts";
import type { Handler, Io } from "../command.ts";
import { integer, isOn, text } from "../given.ts";
import { fileSink } from "../sink.ts";
import { untilInterrupted } from "../waiting.ts";
import { boundsOf } from "./events.ts";

const defaultLines = 200;
/** More than a person could read of one look. */
const mostLines = 10_000;

/** Shows the newest lines, and goes on if asked to: text for people, one document per line for programs. */
export const logs: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const bounds = boundsOf(call);
  if (!bounds.ok) return bounds;
  const level = eventLevels.find((one) => one === flags.level);
  const name = text(args.agent) ?? text(flags.agent);
  const question = { name, turn: text(flags.turn), level, ...bounds.value };
  const limit = integer(flags.limit) ?? integer(flags.lines) ?? defaultLines;
  const found = await app.call("agent.logs", { ...question, lines: limit, before: integer(flags.before) });
  if (!found.ok) return found;
  const { agentName, lines, cursor, ended, older: nextCursor } = found.value;
  const follow = isOn(flags.follow) && !ended && bounds.value.until === undefined;
  const isNarrowed = ["turn", "level", "since", "until", "before"].some((flag) => flags[flag] !== undefined);
  if (lines.length === 0) io.say(isNarrowed ? "Nothing on record fits these flags." : emptyWords(agentName, ended));
  const views = lines.map(logLineView);
  return ok({
    json: { agentName, lines: views, ended, nextCursor, ...olderLogListKeys(views) },
    text: shownLines(lines, agentName === null).join("\n"),
    rows: {
      columns: ["time", "agent", "turn", "text"],
      cells: lines.map((line) => [iso(line.at), line.agentName ?? "", line.turnId ?? "", line.text]),
      objects: views,
    },
    ...(follow
      ? {
          afterPrint: () =>
            untilInterrupted((over) => goOn(app, io, { ...question, after: cursor, lines: mostLines }, over)),
        }
      : {}),
  });
};

/** What an agent that has ended said may have gone with its age. */
function emptyWords(agentName: string | null, ended: boolean): string {
  if (agentName === null) return "Nothing is on record yet.";
  return ended ? `Nothing that ${agentName} said is on record.` : `${agentName} has said nothing yet.`;
}

/** Where all agents are shown, a line says when and whose it is. */
const shownLines = (lines: readonly LogLine[], ofAll: boolean): readonly string[] =>
  lines.map((line) =>
    ofAll ? `${timeOfDay(line.at)} ${visibleLine(line.agentName ?? "-")} ${written(line)}` : written(line),
  );

/** What the agent says stands behind a bar: no line of it can pass for one of ours. */
const written = ({ type, text: line }: LogLine): string =>
  type === "progress" ? `| ${visibleLine(line)}`.trimEnd() : visibleLine(line);

/** Tells what comes, until the agent has ended, until Ctrl-C or until the output's reader is gone. */
async function goOn(app: App, io: Io, request: LogsRequest, over: AbortSignal): Promise<void> {
  const out = fileSink(1);
  const unread = new AbortController();
  const tell = (lines: readonly LogLine[]): void => {
    const said = io.json
      ? lines.map((line) => visibleJson(JSON.stringify(logLineView(line))))
      : shownLines(lines, request.name === undefined);
    if (out.write(`${said.join("\n")}\n`) === "reader-gone") unread.abort();
  };
  const signal = AbortSignal.any([over, unread.signal]);
  const followed = await app.follow("agent.followLogs", request, { onItem: tell, signal });
  if (!followed.ok) io.warn(`stopped following: ${describeRefusal(followed.refusal).message}`);
}
