import type { OpenDoor } from "../ports/engine-door.ts";
import { Bell } from "./bell.ts";
import { cleanReleased } from "./clean-released.ts";
import { type Claimed, claimTurns } from "./dispatch.ts";
import { finishStops } from "./finish-stops.ts";
import type { EnginePorts } from "./ports.ts";
import { takeOverLostTurns } from "./reconcile.ts";
import { type EngineSeat, leaveEngineSeat, takeEngineSeat } from "./seat.ts";
import { seatAgents } from "./seat-agents.ts";
import { SilentSupervisors } from "./silent-supervisors.ts";
import { WatchdogMemory } from "./watchdog/memory.ts";
import { nextWatchdogAt, watchdogTick } from "./watchdog/tick.ts";

/** While something is live, a lost wake or a lost supervisor is noticed within this time. Idle, nothing is looked at. */
const safetyNetMs = 500;

/** How long a supervisor may take from its start to its first transaction. */
const supervisorStartMs = 10_000;

/** Does everything that lasts, until nothing is left to do. */
export async function runEngine(ports: EnginePorts, stop: AbortSignal): Promise<void> {
  const seat = await takeEngineSeat(ports);
  if (seat === undefined) return;
  ports.reach("engine.started");
  const engine = new Engine(ports, seat);
  await engine.run(stop);
}

class Engine {
  readonly #ports: EnginePorts;
  readonly #seat: EngineSeat;
  readonly #bell = new Bell();
  /** Supervisors we started, until their first sign of life can be expected. */
  readonly #starting = new Map<string, number>();
  #housework: Promise<void> | undefined;
  readonly #silent = new SilentSupervisors();
  readonly #watchdog = new WatchdogMemory();
  #door: OpenDoor | undefined;

  constructor(ports: EnginePorts, seat: EngineSeat) {
    this.#ports = ports;
    this.#seat = seat;
  }

  async run(stop: AbortSignal): Promise<void> {
    const { clock, store } = this.#ports;
    stop.addEventListener("abort", () => this.#bell.ring());
    this.#openDoor();
    let seen = -1;
    let idleSince = clock.monotonic();
    while (!stop.aborted) {
      const counter = await store.changeCounter();
      await this.#pass();
      await watchdogTick(this.#ports, this.#watchdog);
      const next = await this.#outlook();
      const now = clock.monotonic();
      if (next.live) idleSince = now;
      if (next.live && !this.#ports.side.keeperIsAlive()) this.#ports.side.replaceKeeper();
      const idleLeft = idleSince + this.#ports.settings.idleExitMs - now;
      if (!next.live && next.dueInMs === undefined && idleLeft <= 0) {
        if (await this.#leave({ whateverIsDue: false })) return;
        idleSince = clock.monotonic();
        continue;
      }
      seen = counter;
      await this.#rest(next.live, next.dueInMs ?? idleLeft, seen);
    }
    await this.#leave({ whateverIsDue: true });
  }

  /** Waits for a ring; while something is live also for a change that nobody announced, or a supervisor that died. */
  async #rest(live: boolean, ms: number, seen: number): Promise<void> {
    if (!live) {
      await this.#bell.wait(Math.max(ms, 1));
      return;
    }
    for (;;) {
      if (await this.#bell.wait(safetyNetMs)) return;
      if ((await this.#ports.store.changeCounter()) !== seen) return;
      if (!this.#ports.side.keeperIsAlive() || (await this.#somethingLost())) return;
      if (ms > 0 && ms <= safetyNetMs) return;
    }
  }

  async #pass(): Promise<void> {
    this.#houseworkInBackground();
    await this.#silent.killSilent(this.#ports);
    const started = [
      ...(await takeOverLostTurns(this.#ports, this.#recentlyStarted())),
      ...(await claimTurns(this.#ports)),
    ];
    if (started.length > 0) this.#ports.reach("dispatch.after-claim");
    for (const turn of started) this.#startSupervisor(turn);
    if (started.length > 0) this.#ports.reach("dispatch.after-supervisor");
  }

  #startSupervisor({ turnId, fence }: Claimed): void {
    this.#starting.set(turnId, this.#ports.clock.monotonic());
    this.#ports.startSupervisor(turnId, fence, () => {
      this.#starting.delete(turnId);
      this.#bell.ring();
    });
  }

  /** Worktrees take as long as git takes and stops as long as a process takes to die; turns of others need not wait. */
  #houseworkInBackground(): void {
    this.#housework ??= this.#doHousework()
      .then((did) => {
        if (did) this.#bell.ring();
      })
      .finally(() => {
        this.#housework = undefined;
      });
  }

  async #doHousework(): Promise<boolean> {
    await finishStops(this.#ports);
    const seated = await seatAgents(this.#ports);
    await cleanReleased(this.#ports);
    return seated > 0;
  }

  async #outlook(): Promise<{ live: boolean; dueInMs: number | undefined }> {
    const watch = await nextWatchdogAt(this.#ports, this.#watchdog);
    const now = this.#ports.clock.now();
    return this.#ports.store.read(async (tx) => {
      const dues = [await tx.turns.nextDue(now), watch].filter((due) => due !== undefined);
      const live = await tx.turns.dueWork(now);
      return { live, dueInMs: dues.length === 0 ? undefined : Math.max(0, Math.min(...dues) - now) };
    });
  }

  async #somethingLost(): Promise<boolean> {
    const starting = this.#recentlyStarted();
    return this.#ports.store.read(async (tx) => {
      for (const turn of await tx.turns.running()) {
        if (starting.has(turn.id)) continue;
        const owners = (await tx.processes.liveForTurn(turn.id)).filter((process) => process.role === "supervisor");
        if (owners.every((owner) => this.#ports.processes.check(owner) === "gone")) return true;
      }
      return false;
    });
  }

  #recentlyStarted(): ReadonlySet<string> {
    const oldest = this.#ports.clock.monotonic() - supervisorStartMs;
    for (const [turnId, since] of this.#starting) if (since < oldest) this.#starting.delete(turnId);
    return new Set(this.#starting.keys());
  }

  #openDoor(): void {
    this.#door = this.#ports.side.open({ wake: () => this.#bell.ring(), call: this.#ports.answer });
    this.#ports.reach("engine.listening");
  }

  /** The door closes before the last look, so that work committed after it finds no engine and starts another. */
  async #leave(options: { whateverIsDue: boolean }): Promise<boolean> {
    await this.#housework;
    this.#door?.close();
    this.#ports.reach("engine.before-leave");
    if (await leaveEngineSeat(this.#ports, this.#seat, options)) {
      await this.#ports.side.dismissKeeper();
      return true;
    }
    this.#openDoor();
    return false;
  }
}
