import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../src/domain/agent/agent.ts";
import type { Event } from "../src/domain/event/event.ts";
import type { Message } from "../src/domain/mail/types.ts";
import type { Turn } from "../src/domain/turn/turn.ts";
import type { WatchdogPorts, WatchdogSettings } from "../src/engine/watchdog/memory.ts";
import { WatchdogMemory } from "../src/engine/watchdog/memory.ts";
import { nextWatchdogAt, watchdogTick } from "../src/engine/watchdog/tick.ts";
import { randomIds } from "../src/host/ids.ts";
import type { Liveness } from "../src/ports/process.ts";
import type { Store } from "../src/ports/store.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { type ManualClock, manualClock } from "./manual-clock.ts";
import { activeRun, storedAgent } from "./use-case.ts";

export const minute = 60_000;

/** A real store, a manual clock, and an engine that does nothing but watch. Thresholds are the defaults. */
export interface WatchdogWorld extends AsyncDisposable {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly ports: WatchdogPorts;
  readonly memory: WatchdogMemory;
  /** Pids that are alive. */
  readonly alive: Set<number>;
  seat(name: string, facts?: Partial<Agent>): Promise<Agent>;
  agent(name: string): Promise<Agent>;
  /** The agent shows a sign of life, as its output or a hook would. */
  act(name: string): Promise<void>;
  /** Starts a turn of the agent whose supervisor holds its lease. */
  beginTurn(name: string): Promise<Turn>;
  beat(turn: Turn): Promise<void>;
  /** Lets time pass as the engine does: it sleeps until the watchdog is due, then ticks. Returns the ticks. */
  pass(ms: number): Promise<number>;
  /** True when it acted. */
  tick(): Promise<boolean>;
  next(): Promise<number | undefined>;
  /** Another engine, that remembers nothing. */
  restarted(): WatchdogWorld;
  events(type?: string): Promise<Event[]>;
  mailTo(name: string): Promise<Message[]>;
}

export async function watchdogWorld(
  watchdog: Partial<WatchdogSettings["watchdog"]> = {},
  maxTurns = 4,
): Promise<WatchdogWorld> {
  const dir = mkdtempSync(join(tmpdir(), "ov-watchdog-"));
  const store = openSqlite({ path: join(dir, "overstory.db"), life: "process" });
  const clock = manualClock();
  await store.transaction((tx) =>
    tx.runs.insert({ ...activeRun("run-1", clock.now()), coordinatorName: "coordinator" }),
  );
  const alive = new Set<number>();
  const ports: WatchdogPorts = {
    store,
    clock,
    ids: randomIds,
    processes: { check: ({ pid }): Liveness => (alive.has(pid) ? "alive" : "gone") },
    settings: { maxTurns, watchdog: { ...defaults, ...watchdog } },
  };
  const dispose = async (): Promise<void> => {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return worldOf(ports, clock, alive, dispose);
}

const defaults: WatchdogSettings["watchdog"] = {
  tier0Enabled: true,
  tier0IntervalMs: minute / 2,
  staleThresholdMs: 5 * minute,
  zombieThresholdMs: 10 * minute,
  nudgeIntervalMs: minute,
  maxEscalationLevel: 3,
  notifyParentOnDeath: true,
};

function worldOf(
  ports: WatchdogPorts,
  clock: ManualClock,
  alive: Set<number>,
  dispose: () => Promise<void>,
): WatchdogWorld {
  const { store } = ports;
  const memory = new WatchdogMemory();
  const agent = async (name: string): Promise<Agent> => {
    const found = await store.read((tx) => tx.agents.byName(name));
    if (found === undefined) throw new Error(`${name} has no seat`);
    return found;
  };
  const next = (): Promise<number | undefined> => nextWatchdogAt(ports, memory);
  const tick = (): Promise<boolean> => watchdogTick(ports, memory);
  return {
    store,
    clock,
    ports,
    memory,
    alive,
    agent,
    next,
    tick,
    seat: async (name, facts = {}) => {
      const now = clock.now();
      const made = storedAgent(name, { worktreePath: `/w/${name}`, startedAt: now, lastActivityAt: now, ...facts });
      await store.transaction((tx) => tx.agents.reserve(made));
      return made;
    },
    act: async (name) => {
      const { id } = await agent(name);
      await store.transaction((tx) => tx.agents.sawActivity(id, clock.now()));
    },
    beginTurn: async (name) => {
      const { id: agentId, runId } = await agent(name);
      return store.transaction(async (tx) => {
        const id = randomIds.next("turn");
        const now = clock.now();
        await tx.turns.cancelQueued(agentId, now);
        await tx.turns.queue({ id, agentId, agentName: name, runId, trigger: "mail", attempt: 1, notBefore: 0, now });
        await tx.turns.start(id, { fence: 1, logDir: "/l", resumeRequested: null, now });
        await tx.leases.hold(`turn:${id}`, 1, "process-1");
        const turn = await tx.turns.get(id);
        if (turn === undefined) throw new Error("the turn is not there");
        return turn;
      });
    },
    beat: async (turn) => {
      await store.transaction((tx) => tx.leases.beat(`turn:${turn.id}`, 1));
    },
    pass: async (ms) => {
      const end = clock.monotonic() + ms;
      let ticks = 0;
      for (;;) {
        const due = await next();
        const wait = due === undefined ? Number.POSITIVE_INFINITY : Math.max(due - clock.now(), 0);
        if (clock.monotonic() + wait > end) break;
        clock.advance(wait);
        await tick();
        if (++ticks > 1000) throw new Error("the watchdog never rests");
      }
      clock.advance(end - clock.monotonic());
      return ticks;
    },
    restarted: () => worldOf(ports, clock, alive, dispose),
    events: async (type) => {
      const all = await store.read((tx) => tx.events.after(0, 10_000));
      return type === undefined ? all : all.filter((event) => event.type === type);
    },
    mailTo: (name) => store.read((tx) => tx.messages.list({ to: name })),
    [Symbol.asyncDispose]: dispose,
  };
}
