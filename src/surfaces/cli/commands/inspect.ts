import { inspectionView } from "../../../contract/views/event.ts";
import { statusOf, waitWords } from "../../../domain/agent/status.ts";
import { elapsed } from "../../../domain/event/event-words.ts";
import { ok } from "../../../domain/result.ts";
import { visibleJson, visibleLine } from "../../../domain/text/visible.ts";
import type { Inspection } from "../../../usecases/agents/inspect.ts";
import { ago, counted, shortTime } from "../../shared/format.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import type { App } from "../app.ts";
import type { Handler, Io } from "../command.ts";
import { integer, isOn, word } from "../given.ts";
import { screenful, screenSize } from "../screenful.ts";
import { fileSink } from "../sink.ts";
import { untilInterrupted } from "../waiting.ts";
import { cutPainted } from "./event-render.ts";

const defaultLimit = 20;
const defaultIntervalMs = 3_000;

/** `ov inspect`: one agent from its name to its last call. */
export const inspect: Handler = async ({ app, args, flags, io }) => {
  const request = { name: word(args.agent), limit: integer(flags.limit) ?? defaultLimit };
  if (isOn(flags.follow)) return follow(app, io, request, integer(flags.interval) ?? defaultIntervalMs);
  const found = await app.call("agent.inspect", request);
  if (!found.ok) return found;
  return ok({ json: inspectionView(found.value), text: inspectionLines(found.value, io).join("\n") });
};

type Request = { readonly name: string; readonly limit: number };

/** Draws in place on a terminal; elsewhere one text, or one document per line, after the other. */
async function follow(app: App, io: Io, request: Request, intervalMs: number) {
  const out = fileSink(1);
  const unread = new AbortController();
  const clear = out.isTTY() && !io.json ? "\u001b[H\u001b[2J" : "";
  const page = (seen: Inspection): string => {
    const text = inspectionLines(seen, io).join("\n");
    const size = screenSize();
    return size === undefined ? `${text}\n` : screenful(text, size, `ov inspect ${request.name}`);
  };
  const tell = (seen: Inspection): void => {
    const text = io.json
      ? visibleJson(JSON.stringify({ success: true, command: "inspect", ...inspectionView(seen) }))
      : page(seen);
    if (out.write(`${clear}${text}\n`) === "reader-gone") unread.abort();
  };
  const followed = await untilInterrupted((over) =>
    app.follow(
      "agent.followInspection",
      { ...request, intervalMs },
      { onItem: tell, signal: AbortSignal.any([over, unread.signal]) },
    ),
  );
  if (!followed.ok) {
    io.warn(`stopped following: ${describeRefusal(followed.refusal).message}`);
    return followed;
  }
  return ok({ json: {}, text: "", silent: true as const });
}

export function inspectionLines(seen: Inspection, io: Pick<Io, "paint">): readonly string[] {
  const { agent, identity, checkpoint, waits, turns, tokens, tools, calls, now } = seen;
  const { paint } = io;
  const width = fileSink(1).columns();
  const heading = (words: string): string => paint.bold(words);
  const field = (name: string, value: string | null): readonly string[] =>
    value === null || value === "" ? [] : [`  ${name.padEnd(12)} ${visibleLine(value)}`];
  const used = tokens.input + tokens.output + tokens.cacheWrite;
  const cost = seen.costMicros === null ? "" : `, $${(seen.costMicros / 1_000_000).toFixed(2)}`;
  const lines = [
    heading(`${agent.name} ${paint.dim(`(${agent.capability}, generation ${agent.generation})`)}`),
    ...field("state", `${statusOf(agent).words}, last seen ${ago(agent.lastActivityAt, now)}`),
    ...field("task", agent.taskId),
    ...field("parent", `${agent.parentName}, depth ${agent.depth}, run ${agent.runId}`),
    ...field("runtime", `${agent.runtime} (${agent.driver})${agent.model === null ? "" : `, ${agent.model}`}`),
    ...field("branch", agent.branch),
    ...field("worktree", agent.worktreePath),
    ...field("started", shortTime(agent.startedAt, now)),
    ...field("pid", seen.pid === null ? null : String(seen.pid)),
    ...field("waits for", waits.map(waitWords).join(", ")),
    ...field("mail", `${seen.unread} unread`),
    ...field(
      "tokens",
      used === 0 ? null : `${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} from the cache${cost}`,
    ),
    ...field("tasks done", identity === null ? null : counted(identity.completed, "task")),
    ...field("current file", seen.currentFile),
    ...(checkpoint === null
      ? []
      : [
          heading("Checkpoint"),
          ...field("said", checkpoint.summary),
          ...field("pending", checkpoint.pending),
          ...field("written", shortTime(checkpoint.updatedAt, now)),
        ]),
    ...(seen.files.length === 0
      ? []
      : [
          heading(`Files touched (${seen.files.length})`),
          ...seen.files.slice(0, 20).map((file) => `  ${visibleLine(file)}`),
        ]),
    ...(turns.length === 0
      ? []
      : [
          heading(`Last turns (${turns.length} of ${seen.turnCount})`),
          ...turns.map(({ turn, story }) => {
            const time =
              turn.endedAt === null || turn.startedAt === null ? "runs" : elapsed(turn.endedAt - turn.startedAt);
            const end = story.outcome === null ? turn.status : (story.outcome.reason ?? story.outcome.end);
            return `  ${turn.startedAt === null ? "-" : shortTime(turn.startedAt, now)} ${turn.trigger}${turn.reason === null ? "" : ` (${visibleLine(turn.reason)})`}, ${time}, ${counted(story.steps.length, "step")}, ${visibleLine(end)}`;
          }),
        ]),
    ...(tools.length === 0
      ? []
      : [
          heading("Top tools"),
          ...tools.map(({ tool, count, failed, averageMs, longestMs }) => {
            const times =
              averageMs === null || longestMs === null
                ? ""
                : `, average ${elapsed(averageMs)}, longest ${elapsed(longestMs)}`;
            return `  ${visibleLine(tool)} ${count}x${failed === 0 ? "" : `, ${failed} failed`}${times}`;
          }),
        ]),
    ...(calls.length === 0
      ? []
      : [
          heading("Recent calls"),
          ...calls.map((call) => {
            const time = call.durationMs === null ? "-" : elapsed(call.durationMs);
            const mark = call.denied !== null ? paint.yellow(" denied") : call.failed ? paint.red(" failed") : "";
            return `  ${paint.muted(shortTime(call.at, now))} ${time.padStart(6)}${mark} ${visibleLine(`${call.tool}: ${call.summary}`)}`;
          }),
        ]),
  ];
  return width === undefined || width === 0 ? lines : lines.map((line) => cutPainted(line, width));
}
