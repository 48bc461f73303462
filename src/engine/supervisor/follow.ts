import type { Usage } from "../../domain/budget/usage.ts";
import type { EventFact } from "../../domain/event/event.ts";
import { keptInput } from "../../domain/event/tool-call.ts";
import { guardRules } from "../../domain/guard/tool-use.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { shortened } from "../../domain/text/sizes.ts";
import { type LoopWatch, watchLoops } from "../../domain/turn/loop.ts";
import { mailPollWarning } from "../../domain/turn/mail-poll.ts";
import { shownWords } from "../../domain/turn/program-words.ts";
import { watchSpending } from "../../domain/turn/spending.ts";
import type { TurnEnded, TurnEvent } from "../../domain/turn/turn-event.ts";
import { changeState } from "../../usecases/agents/reopen-agent.ts";
import { recordUsage } from "../../usecases/budgets/turn-budget.ts";
import { type NewEvent, record } from "../../usecases/events/record.ts";
import { markFor } from "../../usecases/identity/identify.ts";
import { confirmHeard } from "../../usecases/mail/steer.ts";
import type { Exchange } from "./answer.ts";
import { type OwnedTurn, turnLease } from "./begin.ts";
import type { LeaseBeat } from "./lease-beat.ts";
import type { Hopeless, OutputLog, PlacedEvent } from "./output-log.ts";
import type { SupervisorPorts } from "./ports.ts";
import type { WatchedProcess } from "./run-turn.ts";

/** `ended`: by us, for the turn was over, or nothing good could come of it. `said`: the runtime's word that it was over. */
export type Followed =
  | { readonly kind: "exited" }
  | {
      readonly kind: "stalled" | "ended";
      readonly said: TurnEnded | undefined;
      readonly hopeless?: Hopeless | undefined;
    }
  | { readonly kind: "fenced-out" };

interface Watch {
  readonly log: OutputLog;
  readonly process: WatchedProcess;
  readonly beat: LeaseBeat;
  readonly exchange: Exchange;
  /** The program does not leave by itself when its turn is over. */
  readonly stays: boolean;
  /** The program was told what the turn may cost, and ends the turn there. */
  readonly keepsCost: boolean;
}

const fastestLookMs = 20;
const slowestLookMs = 200;
const batchMs = 250;
/** What a program that does not leave gets to write its conversation down. */
const settlingMs = 1_000;
/** How often mail is looked for that the running turn can be given. */
const steerMs = 500;

/**
 * Follows the output file until the process is gone, storing events in batches. Looks often while the file grows and
 * seldom while it does not; a watch per supervisor would exhaust the system's.
 */
export async function followOutput(
  ports: SupervisorPorts,
  owned: OwnedTurn,
  { log, process, beat, exchange, stays, keepsCost }: Watch,
): Promise<Followed> {
  const { clock, limits, processes } = ports;
  const knownBy = { turnId: owned.turn.id, mark: markFor(ports.ids, owned.agent, owned.turn.id) };
  let batch: PlacedEvent[] = [];
  let lastStored = clock.monotonic();
  let lastGrowth = clock.monotonic();
  let lastSteered = clock.monotonic();
  let look = fastestLookMs;
  let waited = false;
  const spending = watchSpending({
    allowance: owned.allowance ?? {},
    model: owned.agent.model,
    at: owned.turn.startedAt ?? clock.now(),
    prices: keepsCost ? null : ports.prices(),
    earlier: owned.turn.outputLines === 0 ? [] : await ports.store.read((tx) => tx.usage.ofTurn(owned.turn.id)),
  });
  const loops = watchLoops(limits.loops);
  const began = clock.monotonic();
  let grewSince = false;
  let overSince: number | undefined;
  const afterResultMs = stays ? Math.min(settlingMs, limits.afterResultMs) : limits.afterResultMs;
  const store = async (): Promise<boolean> => {
    const asked = clock.monotonic();
    const stored = await storeEvents(ports, owned, { batch, grew: grewSince, place: log.place });
    batch = [];
    grewSince = false;
    lastStored = clock.monotonic();
    beat.rodeAlong();
    // While we wait for the disk the agent may be unable to write as well: that is not its silence.
    lastGrowth += lastStored - asked;
    ports.reach("turn.after-batch");
    return stored;
  };
  for (;;) {
    // The order matters: what a process wrote before it went is read after it was seen gone.
    const gone = process.isGone();
    const { events, replies, grew } = log.take();
    const answers = await exchange.answer(replies);
    batch.push(...events, ...answers);
    for (const { event } of answers) if (event.kind === "denied" && event.id !== null) log.refused(event.id);
    for (const { event } of events) if (event.kind === "heard") exchange.heard(event.id);
    if (log.ended !== undefined && !exchange.isUnheard()) exchange.close();
    if (log.ended === undefined && !gone && clock.monotonic() - lastSteered >= steerMs) {
      await exchange.steer();
      lastSteered = clock.monotonic();
    }
    const now = clock.monotonic();
    const spent = spending.overrun({
      events: events.map(({ event }) => event),
      reportedUsd: log.costUsd,
      elapsedMs: now - began,
    });
    const over =
      spent === undefined
        ? circle(loops, [...(await withHookDenials(ports, owned, events)), ...answers])
        : ({ kind: "hopeless", failure: "budget", text: spent } as const);
    if (grew) {
      lastGrowth = now;
      waited = false;
      grewSince = true;
    }
    overSince = log.ended === undefined ? undefined : (overSince ?? now);
    look = grew ? fastestLookMs : Math.min(look * 2, slowestLookMs);
    // What the model was shown is stored at once: a finish that follows asks whether it was.
    const isHeard = batch.some(({ event }) => event.kind === "heard");
    const dueIn = isHeard ? 0 : batch.length > 0 ? batchMs : limits.beatMs;
    if (gone) batch.push(...log.finish());
    if (gone || beat.isLost || now - lastStored >= dueIn) {
      if (!(await store())) {
        await processes.endTree(process.identity, limits.graceMs, knownBy);
        return { kind: "fenced-out" };
      }
    }
    if (gone) return { kind: "exited" };
    const lingers =
      overSince !== undefined &&
      (now - lastGrowth > afterResultMs || (limits.stallTimeoutMs > 0 && now - overSince > limits.stallTimeoutMs));
    // The dollars of a turn that is over are spent and booked: there is nothing left to end.
    const overrun = log.ended === undefined ? over : undefined;
    if (lingers || log.hopeless !== undefined || overrun !== undefined) {
      const { ended } = log;
      const hopeless = log.hopeless ?? overrun;
      await processes.endTree(process.identity, limits.graceMs, { turnId: owned.turn.id });
      batch.push(...log.take().events, ...log.finish());
      if (!(await store())) return { kind: "fenced-out" };
      // The program's output while it is being ended counts only if it reports a success that came just before.
      const gotThrough = log.ended?.failure === null ? log.ended : undefined;
      return { kind: "ended", said: ended ?? gotThrough, hopeless };
    }
    const longestSilenceMs = log.hasOpenCall
      ? Math.max(limits.stallTimeoutMs, limits.toolTimeoutMs)
      : limits.stallTimeoutMs;
    if (limits.stallTimeoutMs > 0 && now - lastGrowth > longestSilenceMs) {
      // An agent that waits for its gates is silent on purpose, and needs a moment to say something when they have
      // ended.
      const waits = await ports.store.read((tx) => tx.checks.dueWork(owned.agent.id));
      if (waits || waited) {
        waited = waits;
        lastGrowth = clock.monotonic();
        continue;
      }
      const said = log.ended;
      await processes.endTree(process.identity, limits.graceMs, knownBy);
      batch.push(...log.take().events, ...log.finish());
      if (!(await store())) return { kind: "fenced-out" };
      return { kind: "stalled", said };
    }
    await new Promise((resolve) => setTimeout(resolve, look));
  }
}

/**
 * Puts a denial before the failed end of each call that a hook denied. In the output such a call only looks failed; the
 * guard stored its denial before the program heard of it.
 */
async function withHookDenials(
  { store }: SupervisorPorts,
  { agent, turn }: OwnedTurn,
  events: readonly PlacedEvent[],
): Promise<readonly PlacedEvent[]> {
  if (!events.some(({ event }) => event.kind === "tool-end" && event.failed)) return events;
  const filter = { agents: [agent.name], types: ["guard_denied"], since: turn.startedAt ?? 0 };
  const found = await store.read((tx) => tx.events.newest(filter, mostDenials));
  const denials = found.filter(({ source }) => source === "hook").map(({ data }) => payloadFields(data));
  return events.flatMap((placed) => {
    const { event } = placed;
    if (event.kind !== "tool-end" || !event.failed) return [placed];
    const denial = denials.find(({ id }) => id === event.id);
    if (denial === undefined) return [placed];
    const rule = guardRules.find((each) => each === denial.rule) ?? "unreadable";
    return [
      { ...placed, event: { kind: "denied", tool: String(denial.tool), id: event.id, summary: null, rule } as const },
      placed,
    ];
  });
}

/** More calls than a program makes at once. */
const mostDenials = 50;

/** The agent goes round in circles: its turn is ended before it spends the rest of its budget so. */
function circle(loops: LoopWatch, events: readonly PlacedEvent[]): Hopeless | undefined {
  for (const { event } of events) {
    const text = loops.see(event);
    if (text !== undefined) return { kind: "hopeless", failure: "loop", text };
  }
  return undefined;
}

/** The output read since the last look, and the offset reached. */
interface Seen {
  readonly batch: readonly PlacedEvent[];
  readonly grew: boolean;
  readonly place: { readonly offset: number; readonly lines: number };
}

/** Stores a batch with everything that follows from it, beating the lease. False when the turn is no longer ours. */
async function storeEvents(ports: SupervisorPorts, owned: OwnedTurn, { batch, grew, place }: Seen): Promise<boolean> {
  const { turn, agent, fence } = owned;
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    if (!(await tx.turns.progress(turn.id, fence, place.offset, place.lines))) return false;
    await tx.leases.beat(turnLease(turn.id), fence);
    // Any bytes are a sign of life, also of a line that is not complete.
    if (batch.length > 0 || grew) await tx.agents.sawActivity(agent.id, now);
    if (batch.length === 0) return true;
    const current = await tx.agents.get(agent.id);
    if (current !== undefined && current.state !== "in_turn") {
      await changeState(tx, current, { to: "in_turn", actor: "supervisor", reason: "first output" }, now);
    }
    for (const { event } of batch) {
      if (event.kind !== "session") continue;
      await tx.agents.sawProviderSession(agent.id, event.providerSessionId, event.version);
      await tx.turns.sawProviderSession(turn.id, event.providerSessionId);
    }
    for (const { event } of batch) {
      if (event.kind === "heard") await confirmHeard(tx, agent.name, turn.id, event.id, now);
    }
    await recordUsage(
      tx,
      batch.flatMap(({ event }) => (event.kind === "usage" ? [usageOf(owned, event, now)] : [])),
    );
    await record(tx, now, ...batch.flatMap((placed) => describe(ports, owned, placed)));
    return true;
  });
}

function describe({ ids }: SupervisorPorts, { turn, agent }: OwnedTurn, placed: PlacedEvent): NewEvent[] {
  const { line, part, event } = placed;
  const shape = shapeOf(placed, turn.resumeRequested, ids.digest);
  if (shape === undefined) return [];
  const warning = event.kind === "tool-start" ? mailPollWarning(event.input) : undefined;
  const place = { agent, turnId: turn.id, line, part };
  const own: NewEvent = { ...place, source: "agent", ...shape };
  // Its own place in the stream: re-reading the file must not store it twice.
  return warning === undefined
    ? [own]
    : [{ ...place, part: part + warningParts, source: "supervisor", ...warning }, own];
}

function usageOf({ turn, agent }: OwnedTurn, event: Extract<TurnEvent, { kind: "usage" }>, now: number): Usage {
  const { kind: _, ...counts } = event;
  return {
    ...counts,
    turnId: turn.id,
    agentName: agent.name,
    runId: agent.runId,
    taskId: agent.taskId,
    createdAt: now,
  };
}

/** What an agent says is kept as events up to this length; its raw output has the whole. */
const mostTextChars = 64_000;
/** The beginning of a thought, or of a failed tool's answer, is enough to know its subject. */
const mostAnswerChars = 4_000;

/** No line has as many events. */
const warningParts = 1_000;

function shapeOf(
  { event, call }: PlacedEvent,
  resumed: string | null,
  digest: (text: string) => string,
): EventFact | undefined {
  switch (event.kind) {
    case "session":
      if (resumed !== null && resumed !== event.providerSessionId) {
        const data = { requestedSessionId: resumed, observedSessionId: event.providerSessionId };
        return { type: "resume_mismatch", level: "warn", data };
      }
      return { type: "session_start", data: { providerSessionId: event.providerSessionId, model: event.model } };
    case "text":
      return { type: "progress", data: { text: shortened(event.text, mostTextChars) } };
    case "thinking":
      return { type: "thinking", level: "debug", data: { text: shortened(event.text, mostAnswerChars) } };
    case "tool-start": {
      const { id, name: tool, summary, input } = event;
      return { type: "tool_start", data: { id, tool, summary, ...keptInput(input, digest) } };
    }
    case "tool-end":
      return {
        type: "tool_end",
        level: event.failed ? "warn" : "info",
        data: {
          id: event.id,
          ...(call ?? { tool: null, summary: null, durationMs: null }),
          failed: event.failed,
          ...(event.said === undefined ? {} : { said: shortened(event.said, mostAnswerChars) }),
        },
      };
    case "retry":
      return {
        type: "retry",
        level: "warn",
        data: { attempt: event.attempt, delayMs: event.delayMs, cause: event.cause },
      };
    case "compacted": {
      const { kind: _, ...data } = event;
      return { type: "compacted", data };
    }
    case "model-changed": {
      const { kind: _, ...data } = event;
      return { type: "model_changed", level: "warn", data };
    }
    case "usage": {
      const { kind: _, ...data } = event;
      return { type: "usage", level: "debug", data };
    }
    case "turn-ended":
      return {
        type: "result",
        level: event.failure === null ? "info" : "error",
        data: {
          cause: event.failure ?? "completed",
          text: shortened(event.text, mostTextChars),
          costUsd: event.costUsd,
        },
      };
    case "hopeless":
      return {
        type: "hopeless",
        level: "error",
        data: { cause: event.failure, text: shortened(event.text, mostTextChars) },
      };
    case "denied": {
      const { kind: _, ...data } = event;
      return { type: "guard_denied", level: "warn", data };
    }
    case "malformed":
      return { type: "malformed_output", level: "warn", data: { bytes: event.bytes, text: shownWords(event.text) } };
    case "cost":
    case "heard":
    case "other":
      return undefined;
  }
}
