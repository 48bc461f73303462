import { assess, nextChange } from "../../domain/health/assess.ts";
import { act, reportKey } from "./act.ts";
import type { WatchdogMemory } from "./memory.ts";
import { type Observed, observe, observeOne } from "./observe.ts";
import { paceOf, type WatchdogPorts, type WatchdogSettings } from "./ports.ts";

/**
 * When its time has come (see `nextWatchdogAt`), looks at everybody who could be stuck and acts on it, each agent in a
 * transaction of its own that looks again. Before that it costs nothing, so it may be called on every pass. Never runs
 * agent work, never ends a process, and never overlaps itself. True when it acted, and so may have queued a turn.
 */
export async function watchdogTick(ports: WatchdogPorts, memory: WatchdogMemory): Promise<boolean> {
  const { store, settings } = ports;
  if (!settings.watchdog.tier0Enabled) return false;
  let acted = false;
  await memory.whenDue(ports.clock, async () => {
    memory.look(ports.clock, paceOf(settings));
    const observed = await store.read((tx) => observe(tx, ports, memory));
    for (const subject of observed) {
      if (!isDue(ports, memory, subject)) continue;
      await settle(ports, memory, subject);
      acted = true;
    }
  });
  return acted;
}

/**
 * The earliest moment at which a tick could find something to do; undefined when nothing needs watching. To be asked
 * whenever the store changed: it is also how the watchdog learns that somebody was active.
 */
export async function nextWatchdogAt(ports: WatchdogPorts, memory: WatchdogMemory): Promise<number | undefined> {
  const { store, settings } = ports;
  if (!settings.watchdog.tier0Enabled) return undefined;
  const paceMs = paceOf(settings);
  memory.look(ports.clock, paceMs);
  const observed = await store.read((tx) => observe(tx, ports, memory));
  let due: number | undefined;
  for (const subject of observed) {
    if (wasReported(ports, memory, subject)) continue;
    const change = dueIn(subject, settings);
    if (change !== undefined && (due === undefined || change < due)) due = change;
  }
  return due === undefined ? undefined : Math.ceil(ports.clock.now() + memory.plan(due, paceMs));
}

/** The end of an attached process is written nowhere, so it must be looked for. */
function dueIn({ agent, facts }: Observed, settings: WatchdogSettings): number | undefined {
  const change = nextChange(facts, settings.watchdog);
  if (agent.topology !== "attached" || facts.process === "unknown") return change;
  return Math.min(change ?? Number.POSITIVE_INFINITY, paceOf(settings));
}

function isDue(ports: WatchdogPorts, memory: WatchdogMemory, subject: Observed): boolean {
  const { kind } = assess(subject.facts, ports.settings.watchdog).action;
  return kind !== "none" && kind !== "investigate" && !wasReported(ports, memory, subject);
}

function wasReported(ports: WatchdogPorts, memory: WatchdogMemory, subject: Observed): boolean {
  const { kind } = assess(subject.facts, ports.settings.watchdog).action;
  return kind === "report" && memory.reported.has(reportKey(subject));
}

async function settle(ports: WatchdogPorts, memory: WatchdogMemory, { agent }: Observed): Promise<void> {
  await ports.store.transaction(async (tx) => {
    const current = await tx.agents.get(agent.id);
    if (current === undefined) return;
    const observed = await observeOne(tx, ports, memory, current);
    const assessment = assess(observed.facts, ports.settings.watchdog);
    if (assessment.action.kind === "report") memory.reported.add(reportKey(observed));
    await act(tx, ports, observed, assessment);
  });
}
