import { errorGroupView, eventListView, eventView, tracedTurnView } from "../../../contract/views/event.ts";
import { type ErrorGroup, exampleText } from "../../../domain/event/error-groups.ts";
import type { Event } from "../../../domain/event/event.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleJson, visibleLine } from "../../../domain/text/visible.ts";
import type { EventsRead, FollowEventsRequest } from "../../../usecases/events/read-events.ts";
import type { Trace, TurnTrace } from "../../../usecases/events/trace.ts";
import { counted, iso, shortTime } from "../../shared/format.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import type { App } from "../app.ts";
import { bellOf } from "../bell.ts";
import type { Call, Handler, Io, Outcome } from "../command.ts";
import { integer, isOn, text, texts, word } from "../given.ts";
import { momentGiven } from "../moments.ts";
import { fileSink } from "../sink.ts";
import { untilInterrupted } from "../waiting.ts";
import { cutPainted, type EventLook, eventLines, eventRows, turnTree } from "./event-render.ts";

const defaults = { feed: 50, trace: 100, turns: 20, errors: 100, exported: 100_000 } as const;
const feedMinutes = 5;

/** `ov feed`: the newest events of all agents, and those that come. */
export const feed: Handler = async (call) => {
  const { app, flags, io } = call;
  const bounds = boundsOf(call);
  if (!bounds.ok) return bounds;
  const question = { agents: texts(flags.agent), run: text(flags.run) };
  const since = bounds.value.since ?? Date.now() - feedMinutes * 60_000;
  const found = await app.call("event.list", {
    ...question,
    since,
    limit: integer(flags.limit) ?? defaults.feed,
    before: integer(flags.before),
  });
  if (!found.ok) return found;
  const { events, cursor } = found.value;
  const intervalMs = integer(flags.interval) ?? 1_000;
  const request = { ...question, since, after: cursor, intervalMs };
  if (!isOn(flags.follow))
    return ok(listed(found.value, io, `No events in the last ${feedMinutes} minutes; see --since.`));
  if (io.json) {
    writeDocuments(events);
    await untilInterrupted((over) => follow(app, io, request, over));
    return ok({ json: {}, text: "", silent: true });
  }
  return ok({
    ...listed(found.value, io, "No events yet."),
    afterPrint: () => untilInterrupted((over) => follow(app, io, request, over)),
  });
};

/** `ov errors`: what went wrong, one by one or by cause. */
export const errors: Handler = async (call) => {
  const { app, flags, io } = call;
  const bounds = boundsOf(call);
  if (!bounds.ok) return bounds;
  const isGrouped = isOn(flags.group);
  const found = await app.call("event.errors", {
    ...bounds.value,
    agents: texts(flags.agent),
    run: text(flags.run),
    group: isGrouped,
    limit: integer(flags.limit) ?? defaults.errors * (isGrouped ? 5 : 1),
    before: integer(flags.before),
  });
  if (!found.ok) return found;
  const { groups } = found.value;
  if (groups === null) return ok(listed(found.value, io, "Nothing went wrong."));
  const lines = groups.flatMap((group) => groupLines(group, io));
  if (groups.length === 0) io.say("Nothing went wrong.");
  return ok({
    json: { groups: groups.map(errorGroupView), ...eventListView(found.value) },
    text: lines.join("\n"),
    rows: {
      columns: ["cause", "count", "first", "last", "agents", "next"],
      cells: groups
        .map(errorGroupView)
        .map((group) => [
          group.cause,
          String(group.count),
          group.firstAt,
          group.lastAt,
          group.agents.join(" "),
          group.next,
        ]),
      objects: groups.map(errorGroupView),
    },
  });
};

function groupLines(group: ErrorGroup, io: Io): readonly string[] {
  const { paint } = io;
  const [now, width] = [Date.now(), fileSink(1).columns()];
  const times =
    group.count === 1
      ? shortTime(group.lastAt, now)
      : `${shortTime(group.firstAt, now)} to ${shortTime(group.lastAt, now)}`;
  const [first = "", ...others] = group.agents.map(visibleLine);
  const agents = others.length === 0 ? first : `${first} and ${counted(others.length, "other agent")}`;
  const lines = [
    `${paint.bold(`${group.count} x`)} ${paint.red(visibleLine(group.cause))}`,
    `    ${paint.muted(times)}${agents === "" ? "" : `  ${paint.accent(agents)}`}`,
    `    #${group.example.seq} ${visibleLine(exampleText(group))}`,
    `    ${paint.dim(`next: ${group.next}`)}`,
  ];
  return width === undefined || width === 0 ? lines : lines.map((line) => cutPainted(line, width));
}

/** `ov trace`: what happened to an agent, for a task or in a run. */
export const trace: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const bounds = boundsOf(call);
  if (!bounds.ok) return bounds;
  const target = word(args.target);
  const file = text(flags.export);
  if (file !== undefined) return exported(call, { target, file, ...bounds.value });
  if (isOn(flags.turns)) {
    const turns = await app.call("event.traceTurns", {
      target,
      ...bounds.value,
      limit: integer(flags.limit) ?? defaults.turns,
    });
    return turns.ok ? ok(turnsShown(turns.value, io)) : turns;
  }
  const limit = integer(flags.limit) ?? defaults.trace;
  const found = await app.call("event.trace", { target, ...bounds.value, limit, before: integer(flags.before) });
  if (!found.ok) return found;
  return ok(traceShown(found.value, io));
};

function traceShown(found: Trace, io: Io): Outcome {
  const { target, kind } = found;
  const shown = listed(found, io, `Nothing is on record about ${kind} ${target}.`);
  const head = io.paint.bold(`Timeline of ${kind} ${visibleLine(target)}: ${counted(found.events.length, "event")}`);
  return {
    ...shown,
    json: { target, kind, ...shown.json },
    text: found.events.length === 0 ? "" : `${head}\n${shown.text}`,
  };
}

function turnsShown({ target, kind, turns, hasOlder }: TurnTrace, io: Io): Outcome {
  if (turns.length === 0) io.say(`No turn of ${kind} ${target} is on record.`);
  const older = hasOlder ? [io.paint.dim("(there are older turns; see --limit)")] : [];
  const views = turns.map(tracedTurnView);
  return {
    json: { target, kind, turns: views, count: turns.length, hasOlder },
    text: [...older, ...turns.flatMap((turn) => turnTree(turn, lookOf(io)))].join("\n"),
    rows: {
      columns: ["turn", "agent", "trigger", "started", "duration_ms", "tools", "mail", "end"],
      cells: views.map((view) => [
        view.id,
        view.agentName,
        view.trigger,
        view.startedAt ?? "",
        String(view.durationMs ?? ""),
        String(view.tools),
        String(view.mail),
        view.outcome?.end ?? view.status,
      ]),
      objects: views,
    },
  };
}

interface Exporting {
  readonly target: string;
  readonly file: string;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Writes events and turns as one portable document: JSON, or a line for each where the file is called `.ndjson`. */
async function exported({ app, flags, io }: Call, { file, ...bounds }: Exporting): Promise<Result<Outcome, Refusal>> {
  const limit = integer(flags.limit) ?? defaults.exported;
  const found = await app.call("event.trace", { ...bounds, limit, before: integer(flags.before) });
  if (!found.ok) return found;
  const traced = await app.call("event.traceTurns", { ...bounds, limit });
  if (!traced.ok) return traced;
  const { target, kind, events, older } = found.value;
  const head = { format: "overstory-trace", version: 1, target, kind, exportedAt: iso(Date.now()) };
  const [eventViews, turnViews] = [events.map(eventView), traced.value.turns.map(tracedTurnView)];
  const isLines = /\.(ndjson|jsonl)$/i.test(file);
  const document = isLines
    ? [head, ...turnViews.map((turn) => ({ turn })), ...eventViews.map((event) => ({ event }))]
        .map((line) => visibleJson(JSON.stringify(line)))
        .join("\n")
    : visibleJson(JSON.stringify({ ...head, turns: turnViews, events: eventViews }));
  const written = await app.call("file.write", { path: file, text: `${document}\n` });
  if (!written.ok) return written;
  const { path } = written.value;
  if (older !== null) io.warn(`older events are left out: ov trace ${target} --export <file> --before ${older}`);
  const counts = { events: events.length, turns: turnViews.length };
  return ok({
    json: { target, kind, path, ...counts, nextCursor: older },
    text: `Wrote ${counted(counts.events, "event")} and ${counted(counts.turns, "turn")} to ${visibleLine(path)}`,
    quietText: "",
  });
}

/** A page of events as an answer. */
export function listed(found: EventsRead, io: Io, whenEmpty: string): Outcome {
  const { events, older } = found;
  if (events.length === 0) io.say(whenEmpty);
  const more = older === null ? [] : [io.paint.dim(`(older events: --before ${older})`)];
  return {
    json: eventListView(found),
    text: [...more, ...eventLines(events, lookOf(io))].join("\n"),
    rows: eventRows(events),
  };
}

export const lookOf = (io: Io): EventLook => ({ paint: io.paint, width: fileSink(1).columns(), now: Date.now() });

/** The moments between which events are asked for. */
export function boundsOf({
  flags,
}: Pick<Call, "flags">): Result<{ readonly since: number | undefined; readonly until: number | undefined }, Refusal> {
  const now = Date.now();
  const since = momentGiven("since", flags.since, now);
  if (!since.ok) return since;
  const until = momentGiven("until", flags.until, now);
  return until.ok ? ok({ since: since.value, until: until.value }) : until;
}

/** Shows what comes until Ctrl-C, or until its reader has gone. */
async function follow(app: App, io: Io, request: FollowEventsRequest, over: AbortSignal): Promise<void> {
  const unread = new AbortController();
  const bell = await bellOf(app, fileSink(1));
  const tell = (events: readonly Event[]): void => {
    bell(events);
    const gone = io.json ? writeDocuments(events) : fileSink(1).write(`${eventLines(events, lookOf(io)).join("\n")}\n`);
    if (gone === "reader-gone") unread.abort();
  };
  const signal = AbortSignal.any([over, unread.signal]);
  const followed = await app.follow("event.follow", request, { onItem: tell, signal });
  if (!followed.ok) io.warn(`stopped following: ${describeRefusal(followed.refusal).message}`);
}

/** One document for each event, as programs that follow read them. */
function writeDocuments(events: readonly Event[]): "written" | "reader-gone" {
  const lines = events.map((event) => JSON.stringify({ success: true, command: "feed", event: eventView(event) }));
  return fileSink(1).write(lines.map((line) => `${visibleJson(line)}\n`).join(""));
}
