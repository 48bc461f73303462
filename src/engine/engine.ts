import { sufficientApprovals } from "../domain/merge/entry.ts";
import type { OpenSocket } from "../ports/engine-contact.ts";
import { earliest, isWorkDue, nextChore, nextReturn } from "../usecases/engine/engine-work.ts";
import { tellOperator } from "../usecases/mail/post.ts";
import { lostAttachments } from "./attached/hand-back.ts";
import { CompletionWorker } from "./completions/worker.ts";
import { claimTurns, Supervisors } from "./dispatch.ts";
import { type EngineSeat, leaveEngineSeat, takeEngineSeat } from "./engine-lease.ts";
import { Housework } from "./housework.ts";
import { Radar } from "./merge/radar.ts";
import { Slots } from "./merge/slots.ts";
import { MergeWorker } from "./merge/worker.ts";
import { Notifier } from "./notify/notifier.ts";
import type { EnginePorts } from "./ports.ts";
import { Retention } from "./retention/table.ts";
import { Seating } from "./seat-agents.ts";
import { SingleFlight, WakeSignal } from "./single-flight.ts";
import { WatchdogMemory } from "./watchdog/memory.ts";
import { nextWatchdogAt, watchdogTick } from "./watchdog/tick.ts";

/** While something is live, a lost wake or a lost supervisor is noticed within this time. Idle, nothing is looked at. */
const safetyNetMs = 500;

/** Looking at all agents costs as much as there are agents: a burst of wakes must not repeat it for each. */
const lookAtAllMs = 250;

/**
 * A wake always starts turns that are ready. The other workers look at most this often while wakes follow each other.
 */
const lookAsideMs = 100;

/** So long may an installer take to put the program back. */
const programReturnMs = 10_000;

/** Runs the engine until no work is left, or until the settings of the project change. */
export async function runEngine(ports: EnginePorts, stop: AbortSignal): Promise<EngineEnd> {
  const seat = await takeEngineSeat(ports, stop);
  if (seat === undefined) return "unseated";
  ports.holdTo(seat);
  ports.reach("engine.started");
  const engine = new Engine(ports, seat, stop);
  return engine.run(stop);
}

/**
 * left      no work is left, or the engine was asked to end
 * outdated  the settings have changed, and the caller starts the engine again with the new ones
 * unseated  another engine works, or this one was asked to end before it had the seat
 */
type EngineEnd = "left" | "outdated" | "unseated";

/** Looks for one kind of work in the database and does it in the background, beside the turns and beside the others. */
interface Worker {
  look(): void;
  /** Resolves when all work that it began has ended. It begins nothing more by itself. */
  settled(): Promise<void>;
}

/**
 * One loop, and workers beside it. Only the loop asks workers to look, so an engine without work does nothing at all.
 *
 *   when                                 what the loop does
 *   at each wake                         starts turns that are due, asks `Seating` to look
 *   at a wake, at most every 100 ms      asks every other worker to look, and calls the watchdog; one look is brought
 *                                        forward when a merge could begin; agents that wait for a worktree are served
 *                                        before, for 100 ms at most
 *   at a wake, at most every 250 ms      takes over turns whose supervisor is gone; asks when the watchdog is due
 *   every 500 ms while work is live      looks for unannounced changes, a lost keeper, lost or silent supervisors
 *   at the next due time                 a whole round: a turn to be tried again, a timer, the watchdog
 *   after `idleExitMs` without work      leaves
 *
 *   worker                               what it does
 *   `Seating`                            gives reserved agents their worktrees
 *   housework                            finishes stops, frees lost attachments and mail, cleans released agents
 *   pruning                              deletes what is old, by one table
 *   `Notifier`                           tells the operator of what waits for them
 *   `MergeWorker`                        lands, promotes, undoes
 *   `Radar`                              warns of branches that collide
 *   `CompletionWorker`                   answers `ov done` and asked-for checks
 *
 * The socket and the workers that have changed something wake the loop. A call over the socket commits on this process's
 * own connection, where the change counter of the database does not tell of it.
 */
class Engine {
  readonly #ports: EnginePorts;
  readonly #seat: EngineSeat;
  readonly #signal = new WakeSignal();
  readonly #supervisors: Supervisors;
  readonly #seating: Seating;
  readonly #merges: MergeWorker;
  readonly #completions: CompletionWorker;
  readonly #radar: Radar;
  /** Workers that no setting changes. */
  readonly #steady: readonly Worker[];
  readonly #watchdog = new WatchdogMemory();
  readonly #retention = new Retention();
  #lookedAsideAt = Number.NEGATIVE_INFINITY;
  /** Since when agents are being seated without a pause. */
  #seatingSince: number | undefined;
  #hurriedAt = Number.NEGATIVE_INFINITY;
  #healthSeenAt = Number.NEGATIVE_INFINITY;
  /** The settings have changed: the engine starts no work that depends on the old ones. */
  #outdated: "no" | "finishing" | "finished" = "no";
  #idleSince: number;
  /** Since when the engine's own program is missing. */
  #programGoneSince: number | undefined;
  #socket: OpenSocket | undefined;

  constructor(ports: EnginePorts, seat: EngineSeat, stop: AbortSignal) {
    this.#ports = ports;
    this.#seat = seat;
    const slots = new Slots(ports.rules.merge.parallelGates);
    const wake = (): void => this.#wakeForAll();
    this.#supervisors = new Supervisors(ports, () => this.#signal.wake());
    this.#seating = new Seating(ports, { stop, wake: () => this.#signal.wake() });
    this.#merges = new MergeWorker(ports, { slots, stop, wake });
    this.#radar = new Radar(ports, wake);
    this.#completions = new CompletionWorker(ports, { slots, stop }, wake);
    const housework = new Housework(ports, () => this.#signal.wake());
    const inBackground = (work: () => Promise<void>): Worker => {
      const flight = new SingleFlight(() => work().then(() => false), { report: ports.report, wake });
      return { look: () => flight.ask(), settled: () => flight.settled() };
    };
    // Apart from each other: pruning takes long in a large repository, and a stop must not wait for it.
    this.#steady = [
      inBackground(() => housework.run()),
      inBackground(() => this.#retention.prune(ports, stop)),
      new Notifier(ports, stop),
    ];
    this.#idleSince = ports.clock.monotonic();
  }

  async run(stop: AbortSignal): Promise<EngineEnd> {
    stop.addEventListener("abort", () => this.#signal.wake());
    this.#openSocket();
    while (!stop.aborted) {
      try {
        if ((await this.#isOutdated()) && (await this.#leave({ whateverIsDue: true, comesBack: true })))
          return "outdated";
        if (await this.#leaveWithoutProgram()) return "left";
        if (await this.#round()) return "left";
      } catch (error) {
        await this.#survive(error);
      }
    }
    await this.#leave({ whateverIsDue: true });
    return "left";
  }

  /**
   * True when the settings have changed and all work begun with the old ones has ended. A gate may take minutes; turns
   * go on meanwhile.
   */
  async #isOutdated(): Promise<boolean> {
    if (this.#outdated === "no" && (await this.#ports.settingsChanged())) {
      this.#outdated = "finishing";
      const begun = this.#steered.map((worker) => worker.settled());
      void Promise.allSettled(begun).then(() => {
        this.#outdated = "finished";
        this.#signal.wake();
      });
    }
    return this.#outdated === "finished";
  }

  /**
   * Leaves when its program was moved or removed, so that the next command, from wherever the program is now, starts an
   * engine that can start supervisors. An installer may put the program back within seconds. True when it has left.
   */
  async #leaveWithoutProgram(): Promise<boolean> {
    const { clock, store, ids, rules } = this.#ports;
    const program = this.#ports.missingProgram();
    const now = clock.monotonic();
    this.#programGoneSince = program === undefined ? undefined : (this.#programGoneSince ?? now);
    if (program === undefined || now - (this.#programGoneSince ?? now) < programReturnMs) return false;
    const moment = clock.now();
    await store.transaction(async (tx) => {
      if (!(await isWorkDue(tx, { now: moment, settings: rules }))) return;
      const body =
        `The program of the engine, ${program}, was moved or removed, so this engine could start no agent any more and ` +
        "has ended. Work waits. Nothing was lost: an engine of the ov that you have now goes on with it. Start it: ov engine start";
      await tellOperator(
        tx,
        { ids, now: moment },
        { type: "error", priority: "high", runId: null, subject: "the engine's program is gone", body },
      );
    });
    return this.#leave({ whateverIsDue: true });
  }

  /** One look at everything, and then rest. True when there was nothing left and the seat is given up. */
  async #round(): Promise<boolean> {
    const { clock, store, settings, side } = this.#ports;
    await this.#giveUpIfLimited();
    const seen = await store.changeCounter();
    // One moment for the whole round: a turn that becomes due on its way is either claimed or waited for.
    const moment = clock.now();
    await this.#startTurns(moment);
    const early = this.#nextLookAside() - clock.monotonic();
    if (early > 0 && !(await this.#hasMergeToBegin(moment))) {
      await this.#signal.wait(early);
      return false;
    }
    this.#lookedAsideAt = clock.monotonic();
    this.#lookAside();
    // It writes on our own connection, where no change counter tells of the turn that a nudge or a death queued.
    if (await watchdogTick(this.#ports, this.#watchdog)) this.#signal.wake();
    const { live, dueInMs } = await this.#outlook(moment);
    const now = clock.monotonic();
    if (live || side.isServing?.() === true) this.#idleSince = now;
    if (live) {
      if (!side.keeperIsAlive()) side.replaceKeeper();
    }
    const idleLeft = this.#idleSince + settings.idleExitMs - now;
    if (!live && dueInMs === undefined && idleLeft <= 0) {
      this.#idleSince = now;
      return this.#leave({ whateverIsDue: false });
    }
    await this.#rest(live, now + Math.max(dueInMs ?? idleLeft, 1), seen);
    return false;
  }

  /**
   * When the workers beside the turns may look again. Each of their looks costs as much of this thread as giving an
   * agent its worktree, and an agent that starts waits for that.
   */
  #nextLookAside(): number {
    this.#seatingSince = this.#seating.isBusy ? (this.#seatingSince ?? this.#ports.clock.monotonic()) : undefined;
    return Math.max(this.#lookedAsideAt, this.#seatingSince ?? Number.NEGATIVE_INFINITY) + lookAsideMs;
  }

  /**
   * Could a merge begin, while no other runs? A person who approved branches waits for it, so it does not wait for the
   * next beat. At most one look in each beat is brought forward.
   */
  async #hasMergeToBegin(moment: number): Promise<boolean> {
    const { clock, rules, store } = this.#ports;
    const now = clock.monotonic();
    if (!this.#merges.isResting || now - this.#hurriedAt < lookAsideMs) return false;
    const isDue = await store.read((tx) => tx.merges.dueWork(moment, sufficientApprovals(rules.merge.mode)));
    if (isDue) this.#hurriedAt = now;
    return isDue;
  }

  /** Only root could raise the limit again, so this engine can start no agent and no gate any more. */
  async #giveUpIfLimited(): Promise<void> {
    const { clock, store, ids } = this.#ports;
    const limit = this.#ports.lockLimit();
    if (limit === undefined) return;
    const body =
      `A program of yours, most likely an agent's, lowered the engine's limit of file locks to ${limit}. ` +
      "Such an engine can start nothing, so it has ended. Another one takes its place now, or when you type your next " +
      "command. Nothing was lost. See that it runs: ov engine status";
    await store.transaction((tx) =>
      tellOperator(
        tx,
        { ids, now: clock.now() },
        { type: "error", priority: "high", runId: null, subject: "a program limited the engine", body },
      ),
    );
    this.#ports.giveUp();
  }

  /** Waits for a wake; while something is live also for a change without a wake, or a supervisor that died. */
  async #rest(live: boolean, until: number, seen: number): Promise<void> {
    const { clock, store, side } = this.#ports;
    for (;;) {
      const left = until - clock.monotonic();
      if (left <= 0 || (await this.#signal.wait(live ? Math.min(left, safetyNetMs) : left))) return;
      if (!live || this.#programGoneSince !== undefined) return;
      if ((await store.changeCounter()) !== seen || !side.keeperIsAlive() || this.#seating.dueInMs() === 0) return;
      if ((await lostAttachments(this.#ports)).length > 0 || (await this.#supervisors.isAnyLost())) {
        this.#supervisors.doubt();
        return;
      }
      await this.#supervisors.killSilent();
    }
  }

  /** The one place where a loop's failure ends: it is put on record, and the next round tries again. */
  async #survive(error: unknown): Promise<void> {
    this.#ports.report(error);
    this.#watchdog.forgive(this.#ports.clock);
    await this.#signal.wait(safetyNetMs);
  }

  /** Workers whose work the settings decide. */
  get #steered(): readonly Worker[] {
    return [this.#merges, this.#radar, this.#completions];
  }

  #lookAside(): void {
    for (const worker of this.#steady) worker.look();
    if (this.#outdated !== "no") return;
    for (const worker of this.#steered) {
      if (worker !== this.#completions || this.#merges.poolIsFree) worker.look();
    }
  }

  /** Something has changed that every worker may act on: none of them waits for its next beat. */
  #wakeForAll(): void {
    this.#lookedAsideAt = Number.NEGATIVE_INFINITY;
    this.#signal.wake();
  }

  async #startTurns(moment: number): Promise<void> {
    // A turn without a supervisor would count as running.
    if (this.#programGoneSince !== undefined) return;
    this.#seating.look();
    const started = [...(await this.#supervisors.takeOver()), ...(await claimTurns(this.#ports, moment))];
    if (started.length > 0) this.#ports.reach("dispatch.after-claim");
    for (const turn of started) this.#supervisors.start(turn);
    if (started.length > 0) this.#ports.reach("dispatch.after-supervisor");
  }

  async #outlook(moment: number): Promise<{ live: boolean; dueInMs: number | undefined }> {
    const watch = await this.#watchAt();
    const terms = { now: moment, settings: this.#ports.rules };
    return this.#ports.store.read(async (tx) => {
      const turn = await tx.turns.nextDue(moment);
      const chore = earliest(await nextChore(tx, terms), await nextReturn(tx));
      const now = this.#ports.clock.now();
      // Overdue chores are already running or backing off: looking again at once would only spin.
      const choreInMs = chore === undefined ? undefined : chore <= now ? lookAtAllMs : chore - now;
      const soonest = earliest(turn, watch);
      const dueInMs = earliest(
        soonest === undefined ? undefined : Math.max(0, soonest - now),
        choreInMs,
        this.#seating.dueInMs(),
      );
      return { live: await isWorkDue(tx, terms), dueInMs };
    });
  }

  /** When the watchdog wants to be called. Asked again too soon, it wants to be asked later. */
  async #watchAt(): Promise<number | undefined> {
    const { clock } = this.#ports;
    const left = this.#healthSeenAt + lookAtAllMs - clock.monotonic();
    if (left > 0) return clock.now() + left;
    this.#healthSeenAt = clock.monotonic();
    return nextWatchdogAt(this.#ports, this.#watchdog);
  }

  #openSocket(): void {
    this.#socket = this.#ports.side.open({
      wake: () => this.#signal.wake(),
      call: (frame, peer) => this.#answer(frame, peer),
      restored: () => this.#signal.wake(),
    });
    this.#ports.reach("engine.listening");
  }

  /** A call that came in here commits on our own connection, where no change counter tells of it. */
  async #answer(frame: string, peer: () => number | undefined): Promise<string> {
    const answer = await this.#ports.answer(frame, peer);
    this.#signal.wake();
    return answer;
  }

  /** The socket closes before the last look, so that work committed after it finds no engine and starts another. */
  async #leave(options: { whateverIsDue: boolean; comesBack?: boolean }): Promise<boolean> {
    for (const worker of [...this.#steady, this.#seating, ...this.#steered]) await worker.settled();
    this.#ports.reach("engine.before-close");
    this.#socket?.close(options);
    this.#ports.reach("engine.before-leave");
    let left = false;
    try {
      // A command that changed the settings before the socket closed has woken this engine and relies on it.
      if (!options.whateverIsDue) await this.#isOutdated();
      const mayLeave = options.whateverIsDue || this.#outdated === "no";
      left = mayLeave && (await leaveEngineSeat(this.#ports, this.#seat, options));
    } finally {
      // This is still the engine, and must be found. Workers were not asked again while they settled.
      if (!left) {
        this.#openSocket();
        this.#wakeForAll();
      }
    }
    if (!left) return false;
    this.#ports.holdTo(undefined);
    if (options.comesBack !== true) await this.#ports.side.dismissKeeper();
    return true;
  }
}
