import { inWords } from "../../domain/budget/budget.ts";
import type { Allowance } from "../../domain/budget/ledger.ts";
import { countedTokens } from "../../domain/budget/usage.ts";
import type { TurnEnded } from "../../domain/turn/turn-event.ts";
import { markFor } from "../../usecases/identity/identify.ts";
import type { Exchange } from "./answer.ts";
import type { OwnedTurn } from "./begin.ts";
import type { LeaseBeat } from "./lease-beat.ts";
import type { Hopeless, OutputLog, PlacedEvent } from "./output-log.ts";
import type { SupervisorPorts } from "./ports.ts";
import type { WatchedProcess } from "./run-turn.ts";
import { storeEvents } from "./store-events.ts";

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
}

const fastestLookMs = 20;
const slowestLookMs = 200;
const batchMs = 250;

/**
 * Follows the output file until the process is gone, storing events in batches. Looks often while the file grows and
 * seldom while it does not; a watch per supervisor would exhaust the system's.
 */
export async function followOutput(
  ports: SupervisorPorts,
  owned: OwnedTurn,
  { log, process, beat, exchange }: Watch,
): Promise<Followed> {
  const { clock, limits, processes } = ports;
  const knownBy = { turnId: owned.turn.id, mark: markFor(ports.ids, owned.agent, owned.turn.id) };
  let batch: PlacedEvent[] = [];
  let lastStored = clock.monotonic();
  let lastGrowth = clock.monotonic();
  let look = fastestLookMs;
  let waited = false;
  const spending = watchSpending(owned.allowance ?? {});
  const began = clock.monotonic();
  let grewSince = false;
  let overSince: number | undefined;
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
    batch.push(...events, ...(await exchange.answer(replies)));
    if (log.ended !== undefined) exchange.close();
    const now = clock.monotonic();
    const over = spending.overrun(events, now - began);
    if (grew) {
      lastGrowth = now;
      waited = false;
      grewSince = true;
    }
    if (log.ended !== undefined) overSince ??= now;
    look = grew ? fastestLookMs : Math.min(look * 2, slowestLookMs);
    const dueIn = batch.length > 0 ? batchMs : limits.beatMs;
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
      (now - lastGrowth > limits.afterResultMs ||
        (limits.stallTimeoutMs > 0 && now - overSince > limits.stallTimeoutMs));
    // A turn that is over has spent what it spent: that is booked, and nothing is left to be ended for it.
    const overrun = log.ended === undefined ? over : undefined;
    if (lingers || log.hopeless !== undefined || overrun !== undefined) {
      const { ended } = log;
      const hopeless = log.hopeless ?? overrun;
      await processes.endTree(process.identity, limits.graceMs, { turnId: owned.turn.id });
      batch.push(...log.take().events, ...log.finish());
      if (!(await store())) return { kind: "fenced-out" };
      // What it says to being ended is no news, unless it had just got through.
      const gotThrough = log.ended?.failure === null ? log.ended : undefined;
      return { kind: "ended", said: ended ?? gotThrough, hopeless };
    }
    if (limits.stallTimeoutMs > 0 && now - lastGrowth > limits.stallTimeoutMs) {
      // Whoever waits for its gates is silent on purpose, and needs a moment to say something when they have ended.
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
 * Says when a turn has taken more of a budget than it may. Dollars are not in the stream: a program that can count them
 * was told its limit.
 */
function watchSpending(allowance: Allowance): {
  overrun(events: readonly PlacedEvent[], elapsedMs: number): Hopeless | undefined;
} {
  let tokens = 0;
  const over = (unit: "tokens" | "minutes", taken: number): Hopeless | undefined => {
    const most = allowance[unit];
    if (most === undefined || taken <= most) return undefined;
    const text = `it took ${inWords(unit, taken)}, and ${inWords(unit, most)} were left`;
    return { kind: "hopeless", failure: "budget", text };
  };
  return {
    overrun: (events, elapsedMs) => {
      tokens += countedTokens(events.flatMap(({ event }) => (event.kind === "usage" ? [event] : [])));
      return over("tokens", tokens) ?? over("minutes", elapsedMs);
    },
  };
}
