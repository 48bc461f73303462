import type { Agent } from "../domain/agent/agent.ts";
import { isIn } from "../domain/agent/capability.ts";
import { nextDelivery } from "../domain/mail/delivery.ts";
import type { Turn } from "../domain/turn/turn.ts";
import type { Mail } from "../ports/store/mail.ts";
import type { NoPlace } from "../ports/store/turns.ts";
import type { Tx } from "../ports/store.ts";
import { releaseReservation, reserveTurn } from "../usecases/budgets/turn-budget.ts";
import { foldMail } from "../usecases/mail/fold-mail.ts";
import { keepGoing } from "../usecases/runs/keep-going.ts";
import type { EnginePorts } from "./ports.ts";
import { turnLease } from "./supervisor/begin.ts";

/** Input of one turn: beyond this many messages or characters the rest waits for the next. */
const mostMessages = 50;
const mostCharacters = 200_000;

export interface Claimed {
  readonly turnId: string;
  readonly fence: number;
}

export type DispatchPorts = Pick<EnginePorts, "store" | "clock" | "ids" | "logDir"> & {
  readonly settings: Pick<EnginePorts["settings"], "maxTurns" | "maxTurnsPerRun" | "budgets">;
};

/** Claims the turns that may run now, up to the concurrency limit, each with its mail. The caller starts them. */
export async function claimTurns(ports: DispatchPorts, now = ports.clock.now()): Promise<Claimed[]> {
  // Only looked at, where there is nothing to claim: supervisors need the writers' lock more.
  if (!(await ports.store.read((tx) => isAnyReady(tx, ports, now)))) return [];
  return ports.store.transaction(async (tx) => {
    const places = await freePlaces(tx, ports);
    const claimed: Claimed[] = [];
    for (;;) {
      const noPlace = places.missing();
      const ready = await tx.turns.ready(now, mostAtOnce, noPlace);
      for (const turn of ready) {
        const agent = await tx.agents.get(turn.agentId);
        if (agent === undefined || !places.has(agent)) continue;
        if (!(await claim(tx, ports, turn, agent, now))) continue;
        places.take(agent);
        claimed.push({ turnId: turn.id, fence: 1 });
      }
      // Only a run that became full on the way can have hidden others behind turns which were then passed over.
      if (ready.length < mostAtOnce || claimed.length >= mostAtOnce || isSame(noPlace, places.missing()))
        return claimed;
    }
  });
}

async function isAnyReady(tx: Tx, ports: DispatchPorts, now: number): Promise<boolean> {
  if ((await tx.turns.ready(now, 1)).length === 0) return false;
  const places = await freePlaces(tx, ports);
  return (await tx.turns.ready(now, 1, places.missing())).length > 0;
}

/** Turns looked at in one go, and claimed in one transaction; what remains is claimed in the next. */
const mostAtOnce = 200;

const isSame = (before: NoPlace, after: NoPlace): boolean =>
  before === after || (before !== "anywhere" && after !== "anywhere" && before.inRuns.length === after.inRuns.length);

interface Places {
  has(agent: Agent): boolean;
  take(agent: Agent): void;
  missing(): NoPlace;
}

/** Free places over all and per run. A persistent agent never takes one: it would starve those it waits for. */
async function freePlaces(tx: Tx, { settings }: DispatchPorts): Promise<Places> {
  const perRun = new Map(await tx.turns.runningPerRun());
  let free = settings.maxTurns - [...perRun.values()].reduce((all, one) => all + one, 0);
  const counts = (agent: Agent): boolean => !isIn("persistent", agent.capability);
  const isFull = (runId: string): boolean => (perRun.get(runId) ?? 0) >= settings.maxTurnsPerRun;
  return {
    has: (agent) => !counts(agent) || (free > 0 && !isFull(agent.runId)),
    take: (agent) => {
      if (!counts(agent)) return;
      free--;
      perRun.set(agent.runId, (perRun.get(agent.runId) ?? 0) + 1);
    },
    missing: () => (free > 0 ? { inRuns: [...perRun.keys()].filter(isFull) } : "anywhere"),
  };
}

async function claim(tx: Tx, ports: DispatchPorts, turn: Turn, agent: Agent, now: number): Promise<boolean> {
  const terms = { limits: ports.settings.budgets, ids: ports.ids, now };
  const reserved = await reserveTurn(tx, { turn, agent, ...terms });
  if (!reserved.ok) return false;
  const carried = await claimMail(tx, turn, agent, now);
  if (carried === 0 && turn.trigger === "mail") {
    // The agent read it by itself in an earlier turn: no process for mail that was already seen.
    await tx.turns.cancel(turn.id, now);
    await releaseReservation(tx, turn.id, terms);
    // A notice may have been held back because this turn was queued: it is due now.
    await keepGoing(tx, terms, agent.runId);
    return false;
  }
  return tx.turns.start(turn.id, {
    fence: 1,
    logDir: ports.logDir(agent.name, turn.id),
    resumeRequested: agent.providerSessionId,
    now,
  });
}

/**
 * What woke the agent was read, folded or is no longer true, and the rest is news. The news may wait for the next turn
 * where another cause will start one.
 */
const isWokenAgain = async (tx: Tx, { name, capability, providerSessionId }: Agent): Promise<boolean> =>
  providerSessionId !== null && (isIn("persistent", capability) || (await tx.waits.of(name)).length > 0);

async function claimMail(tx: Tx, turn: Turn, agent: Agent, now: number): Promise<number> {
  let messages = 0;
  let characters = 0;
  const queued = await inputFor(tx, agent, now);
  if (turn.trigger === "mail" && !queued.some(wakes) && (await isWokenAgain(tx, agent))) {
    return 0;
  }
  for (const { message, delivery } of queued) {
    characters += message.body.length;
    if (messages > 0 && characters > mostCharacters) break;
    const taken = nextDelivery(delivery, { kind: "claim", by: turn.id, channel: "turn", turnId: turn.id }, now);
    if (!taken.ok) continue;
    await tx.deliveries.update(taken.value);
    messages++;
  }
  return messages;
}

/** The mail for a turn. If no message that woke the agent is left, other mail that wakes may be waiting behind it. */
async function inputFor(tx: Tx, { name }: Agent, now: number): Promise<readonly Mail[]> {
  for (;;) {
    const due = await tx.deliveries.forTurn(name, now, mostMessages);
    const kept = await foldMail(tx, due, now);
    // Each further look finds less mail that wakes: the mail of the look before is cancelled, or wakes no longer.
    if (kept.some(wakes) || !due.some(wakes)) return kept;
  }
}

const wakes = ({ delivery }: Mail): boolean => delivery.wake;

/** How long a supervisor may take from its start to its first transaction. */
const startMs = 10_000;

/** Looking at all running turns costs as much as there are: a burst of wakes must not repeat it for each. */
const lookMs = 250;

/** The supervisors of running turns: starts them, and notices those that are gone or silent. */
export class Supervisors {
  readonly #ports: EnginePorts;
  /** Called when a supervisor that this engine started has ended. */
  readonly #ended: () => void;
  /** Those we started, until their first sign of life can be expected. */
  readonly #starting = new Map<string, number>();
  readonly #silent = new SilentSupervisors();
  readonly #lost = new LostTurns();
  /** A supervisor ended or seems to have: who owns the running turns must be looked at. */
  #areInDoubt = true;
  #seenAt = Number.NEGATIVE_INFINITY;

  constructor(ports: EnginePorts, ended: () => void) {
    this.#ports = ports;
    this.#ended = ended;
  }

  start({ turnId, fence }: Claimed): void {
    this.#starting.set(turnId, this.#ports.clock.monotonic());
    this.#ports.startSupervisor(turnId, fence, () => {
      this.#starting.delete(turnId);
      this.#areInDoubt = true;
      this.#ended();
    });
  }

  /** Takes the turns whose supervisor is gone. They need new ones. */
  async takeOver(): Promise<readonly Claimed[]> {
    const now = this.#ports.clock.monotonic();
    if (!this.#areInDoubt && now - this.#seenAt < lookMs) return [];
    this.#areInDoubt = false;
    this.#seenAt = now;
    await this.killSilent();
    return this.#lost.takeOver(this.#ports, this.#recentlyStarted());
  }

  killSilent(): Promise<void> {
    return this.#silent.killSilent(this.#ports);
  }

  async isAnyLost(): Promise<boolean> {
    return (await lostTurns(this.#ports, this.#recentlyStarted())).length > 0;
  }

  /** The next `takeOver` looks, however short ago the last look was. */
  doubt(): void {
    this.#areInDoubt = true;
  }

  #recentlyStarted(): ReadonlySet<string> {
    const oldest = this.#ports.clock.monotonic() - startMs;
    for (const [turnId, since] of this.#starting) if (since < oldest) this.#starting.delete(turnId);
    return new Set(this.#starting.keys());
  }
}

interface Sighting {
  readonly fence: number;
  readonly beat: number;
  readonly since: number;
}

/**
 * Notices supervisors that live but do not beat: stopped by a signal, or stuck. Judged by this engine's own awake time
 * alone: the same (fence, beat) seen for twice the lease. Such a supervisor is killed, itself only; the agent it started
 * goes on and is adopted by the next one.
 */
class SilentSupervisors {
  readonly #seen = new Map<string, Sighting>();

  async killSilent(ports: EnginePorts): Promise<void> {
    const now = ports.clock.monotonic();
    const running = await ports.store.read(async (tx) => {
      const found = [];
      for (const turn of await tx.turns.running()) {
        const lease = await tx.leases.get(turnLease(turn.id));
        const owners = await tx.processes.liveForTurn(turn.id);
        if (lease !== undefined)
          found.push({ turn, lease, owners: owners.filter((owner) => owner.role === "supervisor") });
      }
      return found;
    });
    for (const id of this.#seen.keys()) if (!running.some(({ turn }) => turn.id === id)) this.#seen.delete(id);
    for (const { turn, lease, owners } of running) {
      const seen = this.#seen.get(turn.id);
      if (seen === undefined || seen.fence !== lease.fence || seen.beat !== lease.beat) {
        this.#seen.set(turn.id, { fence: lease.fence, beat: lease.beat, since: now });
        continue;
      }
      if (now - seen.since < 2 * ports.settings.leaseMs) continue;
      for (const owner of owners) ports.killOne(owner);
      this.#seen.delete(turn.id);
    }
  }
}

const firstPauseMs = 200;
const longestPauseMs = 30_000;

/**
 * Gives running turns whose supervisor is gone to new ones, by a higher fence. A turn whose supervisors die one after
 * the other is tried again with growing pauses: what kills them must not take a whole core.
 */
class LostTurns {
  readonly #tries = new Map<string, { count: number; nextAt: number }>();

  /** `starting` names turns whose supervisor was just started and had no time to record itself. */
  async takeOver(ports: EnginePorts, starting: ReadonlySet<string>): Promise<Claimed[]> {
    const now = ports.clock.monotonic();
    const lost = (await lostTurns(ports, starting)).filter(({ id }) => (this.#tries.get(id)?.nextAt ?? 0) <= now);
    if (lost.length === 0) return [];
    const taken = await ports.store.transaction(async (tx) => {
      const claimed: Claimed[] = [];
      for (const turn of lost) {
        const current = await tx.turns.get(turn.id);
        if (current?.fence !== turn.fence) continue;
        const fence = await tx.turns.takeOver(turn.id);
        if (fence !== undefined) claimed.push({ turnId: turn.id, fence });
      }
      return claimed;
    });
    for (const { turnId } of taken) {
      const count = (this.#tries.get(turnId)?.count ?? 0) + 1;
      // The first successor may come at once; from the second on something is wrong with the turn itself.
      const pause = count === 1 ? 0 : Math.min(firstPauseMs * 2 ** (count - 2), longestPauseMs);
      this.#tries.set(turnId, { count, nextAt: now + pause });
    }
    return taken;
  }
}

/** Running turns without a living supervisor. `starting` as above. */
async function lostTurns(ports: EnginePorts, starting: ReadonlySet<string>): Promise<Turn[]> {
  return ports.store.read(async (tx) => {
    const lost: Turn[] = [];
    for (const turn of await tx.turns.running()) {
      if (starting.has(turn.id)) continue;
      const supervisors = (await tx.processes.liveForTurn(turn.id)).filter((process) => process.role === "supervisor");
      if (supervisors.every((process) => ports.processes.check(process) === "gone")) lost.push(turn);
    }
    return lost;
  });
}
