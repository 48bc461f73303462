import type { HealthLimits } from "../../domain/health/ladder.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Processes } from "../../ports/process.ts";
import type { Store } from "../../ports/store.ts";

export interface WatchdogPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly processes: Pick<Processes, "check">;
  readonly settings: WatchdogSettings;
}

export interface WatchdogSettings {
  /** Turns that may run at the same time. */
  readonly maxTurns: number;
  /** The `watchdog` section of the configuration. */
  readonly watchdog: HealthLimits & {
    readonly tier0Enabled: boolean;
    readonly tier0IntervalMs: number;
    readonly notifyParentOnDeath: boolean;
  };
}

/** An interval of nothing would be a loop without rest. */
const shortestIntervalMs = 100;

/** Time between two ticks, at least. */
export const paceOf = ({ watchdog }: WatchdogSettings): number =>
  Math.max(watchdog.tier0IntervalMs, shortestIntervalMs);

interface Sighting {
  readonly sign: string;
  readonly since: number;
}

/**
 * What one engine saw of its agents. All ages are its own awake, monotonic time: a clock that is set, a host that
 * sleeps and an engine that starts again make no agent older. Only after a sleep that was noticed does the time slept
 * count, and then not before one stale window has passed awake.
 */
export class WatchdogMemory {
  /** Problems of the engine that were reported, so that they are not due again. */
  readonly reported = new Set<string>();
  readonly #seen = new Map<string, Sighting>();
  #last: { readonly wall: number; readonly awake: number } | undefined;
  #plannedAt: number | undefined;
  #tickedAt: number | undefined;
  #wokeAt: number | undefined;
  #sleptMs = 0;
  #ticking = false;

  /** Notes the time. A look that comes much later than planned, or finds that the wall clock ran ahead, follows a sleep. */
  look(clock: Clock, paceMs: number): void {
    const now = { wall: clock.now(), awake: clock.monotonic() };
    const jump = this.#last === undefined ? 0 : now.wall - this.#last.wall - (now.awake - this.#last.awake);
    const late = this.#plannedAt === undefined ? 0 : now.awake - this.#plannedAt;
    const bearable = 3 * paceMs;
    if (jump > bearable) this.#sleptMs += jump;
    if (jump > bearable || late > bearable) this.#wokeAt = now.awake;
    this.#last = now;
    this.#plannedAt = undefined;
  }

  /**
   * The engine could not store its observations, and perhaps no process could write. As after a sleep of the machine,
   * ages count anew until a stale window has passed.
   */
  forgive(clock: Clock): void {
    this.#wokeAt = clock.monotonic();
  }

  /** For how long this subject has shown the same sign. Another sign, or a subject that was forgotten, starts anew. */
  unchangedFor(subject: string, sign: string): number {
    const elapsed = this.#awake + this.#sleptMs;
    const seen = this.#seen.get(subject);
    if (seen?.sign === sign) return elapsed - seen.since;
    this.#seen.set(subject, { sign, since: elapsed });
    return 0;
  }

  /** Forgets every other subject, so that a subject excused now is not counted as silent from before the excuse. */
  keepOnly(subjects: ReadonlySet<string>): void {
    for (const subject of this.#seen.keys()) if (!subjects.has(subject)) this.#seen.delete(subject);
  }

  /** The rest of the window in which ages do not count against an agent. */
  graceMs(windowMs: number): number {
    return this.#wokeAt === undefined ? 0 : Math.max(0, this.#wokeAt + windowMs - this.#awake);
  }

  /** The delay until the next tick when something is due in `dueMs`: not before the pace allows. */
  plan(dueMs: number, paceMs: number): number {
    const rest = this.#tickedAt === undefined ? 0 : this.#tickedAt + paceMs - this.#awake;
    const delay = Math.max(dueMs, rest, 0);
    this.#plannedAt = this.#awake + delay;
    return delay;
  }

  /** Runs `work` when the planned moment has come, or nothing was ever planned; never while it is still running. */
  async whenDue(clock: Clock, work: () => Promise<void>): Promise<void> {
    const first = this.#plannedAt === undefined && this.#tickedAt === undefined;
    const due = this.#plannedAt !== undefined && clock.monotonic() >= this.#plannedAt;
    if (this.#ticking || !(first || due)) return;
    this.#ticking = true;
    try {
      await work();
    } finally {
      this.#ticking = false;
      this.#tickedAt = this.#awake;
    }
  }

  get #awake(): number {
    return this.#last?.awake ?? 0;
  }
}
