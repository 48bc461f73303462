import type { Event } from "../../../domain/event/event.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { notFound } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import type { EventsRead, EventsRequest } from "../../../usecases/events/read-events.ts";
import type { App } from "../app.ts";
import type { Call, Handler } from "../command.ts";
import { integer, text, texts } from "../given.ts";
import { fileSink, isTerminal } from "../sink.ts";
import { untilInterrupted } from "../waiting.ts";
import { boundsOf, listed, lookOf } from "./events.ts";

const defaultLimit = 200;
const dayMs = 86_400_000;
const interrupted = 130;

type Question = Omit<EventsRequest, "limit" | "before">;

/** `ov replay`: events one by one at the pace of the keyboard, or as a list where there is no terminal. */
export const replay: Handler = async (call) => {
  const { app, flags, io } = call;
  const question = await questionOf(call);
  if (!question.ok) return question;
  const limit = integer(flags.limit) ?? defaultLimit;
  const from = integer(flags.from);
  const found = await eventsFrom(app, question.value, { from, limit, before: integer(flags.before) });
  if (!found.ok) return found;
  const shown = listed(found.value, io, "Nothing is on record for this replay.");
  const { events } = found.value;
  if (io.json || flags.format !== undefined || events.length === 0 || !isTerminal(0) || !isTerminal(1))
    return ok(shown);
  const [{ withTerminal }, { oneByOne, walk }] = await Promise.all([
    import("../../shared/terminal.ts"),
    import("./replay-pager.ts"),
  ]);
  const source = {
    older: async (before: number) => eventsIn(await app.call("event.list", { ...question.value, limit, before })),
    newer: async (after: number) => eventsIn(await app.call("event.readAfter", { ...question.value, after, limit })),
  };
  const out = fileSink(1);
  const left = await untilInterrupted((over) =>
    withTerminal(out.write, (terminal) => walk(oneByOne(terminal, over), source, lookOf(io), events)),
  );
  return ok({ json: {}, text: "", silent: true, ...(left.interrupted ? { exit: interrupted } : {}) });
};

/** A run or agents that were named; else the current run; else the last day. From an event on, everything. */
async function questionOf(call: Call): Promise<Result<Question, Refusal>> {
  const { app, flags } = call;
  const bounds = boundsOf(call);
  if (!bounds.ok) return bounds;
  const [agents, run] = [texts(flags.agent), text(flags.run)];
  const named = { agents, run, ...bounds.value };
  const isNarrow = agents !== undefined || run !== undefined || bounds.value.since !== undefined;
  if (isNarrow || integer(flags.from) !== undefined) return ok(named);
  const current = await app.call("run.current", {});
  if (!current.ok) return current;
  const runId = current.value.current?.run.id;
  return ok(runId === undefined ? { ...named, since: Date.now() - dayMs } : { ...named, run: runId });
}

async function eventsFrom(
  app: App,
  question: Question,
  {
    from,
    limit,
    before,
  }: { readonly from: number | undefined; readonly limit: number; readonly before: number | undefined },
): Promise<Result<EventsRead, Refusal>> {
  if (from === undefined) return app.call("event.list", { ...question, limit, before });
  const found = await app.call("event.readAfter", { ...question, after: from - 1, limit });
  if (!found.ok) return found;
  const { events, cursor } = found.value;
  if (events.length === 0) return no(notFound("event", String(from)));
  return ok({ events, cursor, older: from > 1 ? from : null });
}

/** A walk goes on when events cannot be read for once: it shows those that it has. */
const eventsIn = (read: Result<{ readonly events: readonly Event[] }, Refusal>): readonly Event[] =>
  read.ok ? read.value.events : [];
