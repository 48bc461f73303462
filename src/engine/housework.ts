import { type Agent, hasEnded } from "../domain/agent/agent.ts";
import { stopEnd, watchdog } from "../domain/agent/transition.ts";
import type { Processes } from "../ports/process.ts";
import { everyAgent } from "../ports/store/snapshots.ts";
import type { Store, Tx } from "../ports/store.ts";
import type { OwnedWorktree } from "../ports/worktrees.ts";
import { endAgent } from "../usecases/agents/end-agent.ts";
import { isInQueue } from "../usecases/agents/held-agents.ts";
import { release } from "../usecases/agents/release-agent.ts";
import { recheckBudgets } from "../usecases/budgets/turn-budget.ts";
import { record } from "../usecases/events/record.ts";
import { isWanted } from "../usecases/gates/environments.ts";
import { expireClaim } from "../usecases/mail/check.ts";
import { wakeSleepers } from "../usecases/runs/keep-going.ts";
import { worktreeOf } from "../usecases/worktrees/owners.ts";
import { freeLostAttachments } from "./attached/hand-back.ts";
import type { EnginePorts } from "./ports.ts";
import { conserve } from "./supervisor/conserve.ts";

/**
 * What the engine does beside everything else, one chore after the other. Stops take as long as a process takes to die,
 * and cleaning as long as git takes; the turns of other agents need not wait.
 */
export class Housework {
  readonly #ports: EnginePorts;
  readonly #wake: () => void;
  readonly #stops = new UnfinishedStops();
  #budgetsSeen = false;
  #sleepersSeen = false;

  /** `wake` is called when a chore woke an agent. */
  constructor(ports: EnginePorts, wake: () => void) {
    this.#ports = ports;
    this.#wake = wake;
  }

  async run(): Promise<void> {
    const ports = this.#ports;
    const chores: readonly (() => Promise<unknown>)[] = [
      () => this.#wakeSleepers(),
      () => this.#freeFromBudgets(),
      () => this.#stops.finish(ports),
      () => freeLostAttachments(ports),
      () => expireClaims(ports),
      () => releaseForgotten(ports),
      () => cleanReleased(ports),
      () => startEnginesAbroad(ports),
    ];
    for (const chore of chores) {
      try {
        if ((await chore()) === true) this.#wake();
      } catch (error) {
        // A chore that fails must not keep the others from being done; the next pass tries it again.
        ports.report(error);
      }
    }
  }

  /** Once: what ends later is looked at where it ends. */
  async #wakeSleepers(): Promise<boolean> {
    if (this.#sleepersSeen) return false;
    const { store, ids, clock } = this.#ports;
    const woken = await store.transaction((tx) => wakeSleepers(tx, { ids, now: clock.now() }));
    this.#sleepersSeen = true;
    return woken;
  }

  /** A limit may have been raised while no engine ran, or by the settings this engine started with. */
  async #freeFromBudgets(): Promise<boolean> {
    const freed = await freeFromBudgets(this.#ports, { evenIfNotDue: !this.#budgetsSeen });
    this.#budgetsSeen = true;
    return freed;
  }
}

const mostExpiredAtOnce = 100;

/**
 * Takes mail back from readers that died before they confirmed it. The mail is delivered again or visibly given up.
 * Mail that was printed for a person waits for the person's next look, so that nobody is told twice. True when a claim
 * had expired.
 */
async function expireClaims(ports: EnginePorts): Promise<boolean> {
  const now = ports.clock.now();
  const due = await ports.store.read((tx) => tx.deliveries.nextExpiry());
  if (due === undefined || due > now) return false;
  return ports.store.transaction(async (tx) => {
    let any = false;
    for (const delivery of await tx.deliveries.expired(now, mostExpiredAtOnce)) {
      const message = await tx.messages.bySeq(delivery.messageSeq);
      if (message === undefined) continue;
      await expireClaim(tx, { ids: ports.ids, now, settings: ports.rules }, { message, delivery });
      any = true;
    }
    return any;
  });
}

/** Lets agents go on whose budget allows it again, as at the turn of a day. True when an agent may run now. */
async function freeFromBudgets(
  ports: EnginePorts,
  { evenIfNotDue }: { readonly evenIfNotDue: boolean },
): Promise<boolean> {
  const now = ports.clock.now();
  const due = await ports.store.read((tx) => tx.waits.nextDeadline("budget"));
  if (!evenIfNotDue && (due === undefined || due > now)) return false;
  const terms = { limits: ports.settings.budgets, ids: ports.ids, now };
  const { resumed } = await ports.store.transaction((tx) => recheckBudgets(tx, terms));
  return resumed.length > 0;
}

const graceMs = 2_000;

/**
 * Completes stops whose command died half-way, and stops by the watchdog: ends the remaining processes, and ends the
 * agent when no supervisor does. Safe to repeat, and harmless beside a command that does the same.
 */
class UnfinishedStops {
  readonly #seen = new Map<string, number>();

  /** True when an agent ended by it, which other agents may have to hear of. */
  async finish(ports: EnginePorts): Promise<boolean> {
    const stopping = await ports.store.read((tx) => tx.agents.stopping());
    const now = ports.clock.monotonic();
    for (const id of this.#seen.keys()) if (!stopping.some((agent) => agent.id === id)) this.#seen.delete(id);
    let ended = false;
    for (const agent of stopping) {
      const since = this.#seen.get(agent.id) ?? now;
      this.#seen.set(agent.id, since);
      if (agent.stopRequestedBy !== watchdog && now - since < headStartMs) continue;
      if (await finishStop(ports, agent)) ended = true;
    }
    return ended;
  }
}

/** A command that stops an agent ends the processes itself and tells how that went; it should find them alive. */
const headStartMs = 4_000;

async function finishStop(ports: EnginePorts, agent: Agent): Promise<boolean> {
  const live = await ports.store.read((tx) => tx.processes.liveForAgent(agent.id));
  for (const process of live.filter((record) => record.role === "agent")) {
    await ports.processes.endTree(process, graceMs, { turnId: process.turnId ?? undefined });
  }
  await ports.processes.endStartedFor(agent.id, graceMs);
  ports.reach("stop.after-kill");
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    const current = await tx.agents.get(agent.id);
    // With a turn running, its supervisor or the one that takes over settles the turn and ends the agent.
    if (current === undefined || (await tx.turns.runningFor(agent.id)) !== undefined) return false;
    const end = stopEnd(current.stopRequestedBy ?? "operator");
    const notifyDeaths = ports.settings.watchdog.notifyParentOnDeath;
    const told = { ...end, death: end.reason, turnId: null };
    return endAgent(tx, { ids: ports.ids, now, notifyDeaths }, current, told);
  });
}

/**
 * Starts engines of other projects, where an orchestrator of ours gave work. An engine that it started itself would
 * carry its mark and die with its turn. A request counts only while an orchestrator has a turn; any other is deleted.
 */
async function startEnginesAbroad({ store, abroad }: EnginePorts): Promise<void> {
  for (const { id, root } of abroad.requests()) {
    try {
      if (await anOrchestratorWorks(store)) await abroad.start(root);
    } finally {
      abroad.forget(id);
    }
  }
}

const anOrchestratorWorks = (store: Store): Promise<boolean> =>
  store.read(async (tx) => {
    for (const { agentId } of await tx.turns.running()) {
      if ((await tx.agents.get(agentId))?.capability === "orchestrator") return true;
    }
    return false;
  });

export interface CleaningPorts
  extends Pick<EnginePorts, "store" | "clock" | "ids" | "worktrees" | "reach" | "forgetEnvironment" | "forgetScratch"> {
  readonly processes: Pick<Processes, "endStartedFor" | "self" | "check">;
}

const longestHoldMs = 24 * 60 * 60_000;
/**
 * Releases agents whose work was left alone for a day. Work in the merge queue is not forgotten. True when it released
 * one.
 */
export async function releaseForgotten(ports: Pick<EnginePorts, "store" | "clock" | "ids">): Promise<boolean> {
  const now = ports.clock.now();
  const forgotten = await ports.store.read((tx) => tx.agents.submittedBefore(now - longestHoldMs));
  let any = false;
  for (const agent of forgotten) {
    const released = await ports.store.transaction(async (tx) =>
      (await isInQueue(tx, agent))
        ? []
        : release(tx, { now, ids: ports.ids }, agent, "nobody came back to it for a day"),
    );
    if (released.length > 0) any = true;
  }
  return any;
}

/** Removes the worktrees of released agents. A snapshot keeps their uncommitted work first; the branch stays. */
export async function cleanReleased(ports: CleaningPorts): Promise<void> {
  const released = await ports.store.read((tx) => tx.agents.toClean());
  for (const agent of released) await cleanUp(ports, agent);
}

/**
 * Removes the worktree of a released agent and frees its place, unless its work could not be kept. A new agent that
 * needs the place and the housework may call this at the same time.
 */
export function cleanUp(ports: CleaningPorts, { id }: Pick<Agent, "id">): Promise<void> {
  const going = underWay.get(id);
  if (going !== undefined) return going;
  const cleaning = clean(ports, id).finally(() => underWay.delete(id));
  underWay.set(id, cleaning);
  return cleaning;
}

const underWay = new Map<string, Promise<void>>();

/** Resolves when no removal of this agent's remains is under way. */
export const cleaningOf = async ({ id }: Pick<Agent, "id">): Promise<void> => underWay.get(id);

async function clean(ports: CleaningPorts, id: string): Promise<void> {
  const agent = await ports.store.read((tx) => tx.agents.get(id));
  if (agent === undefined || agent.cleanedAt !== null) return;
  // A server that a turn left running must not write after the last look, nor go on where nothing is any more.
  await ports.processes.endStartedFor(agent.id, graceMs);
  const worktree = worktreeOf(agent);
  // The other process records the removal when it is done; if it dies, the next look finds the agent still to be
  // cleaned.
  if (worktree !== undefined && (await isRemovedByOther(ports, agent.name))) return;
  if (worktree !== undefined && (await claim(ports, agent))) {
    const kept = await conserve(ports, agent, "pause");
    ports.reach("release.after-snapshot");
    const problem = kept === undefined ? "what is in it could not be kept" : await takeAway(ports, worktree);
    if (problem !== null) await note(ports, agent, problem);
    ports.forgetScratch(agent.name);
    ports.reach("release.after-remove");
  }
  await forgetVariables(ports, agent);
  await ports.store.transaction(async (tx) => {
    await tx.agents.cleaned(agent.id, ports.clock.now());
    await tx.removals.end(agent.name, ports.processes.self());
  });
}

/**
 * Does another process remove the worktree of this name now? A process that is gone does not count, and its mark is
 * deleted.
 */
export async function isRemovedByOther({ store, processes }: CleaningPorts, name: string): Promise<boolean> {
  const found = await store.read(async (tx) => [await tx.removals.of(name), await tx.removals.of(everyAgent)]);
  const { pid } = processes.self();
  const others = found.filter((removal) => removal !== undefined).filter((removal) => removal.pid !== pid);
  if (others.some((removal) => processes.check(removal) !== "gone")) return true;
  if (others.length === 0) return false;
  await store.transaction(async (tx) => {
    for (const removal of others) await tx.removals.end(removal.agentName, removal);
  });
  return false;
}

/** The intent: from here on no agent of this name is seated there before we have ended. False when one is already. */
async function claim(ports: CleaningPorts, agent: Agent): Promise<boolean> {
  const createdAt = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    if (await hasSuccessorIn(tx, agent)) return false;
    await tx.removals.begin({ agentName: agent.name, ...ports.processes.self(), createdAt });
    return true;
  });
}

async function takeAway(ports: CleaningPorts, worktree: OwnedWorktree): Promise<string | null> {
  return (await ports.worktrees.remove(worktree, { deleteBranch: null })).problem;
}

/** Deletes the variables captured from the user's shell with the last agent that has them, or later: see `isWanted`. */
async function forgetVariables(ports: CleaningPorts, { id, name, envFile }: Agent): Promise<void> {
  if (envFile === null) return;
  const used = await ports.store.read(async (tx) => {
    const newest = await tx.agents.byName(name);
    const handedDown = newest?.id !== id && newest?.envFile === envFile && newest.cleanedAt === null;
    return handedDown || (await isWanted(tx, envFile, name));
  });
  if (!used) ports.forgetEnvironment(envFile);
}

/** A later incarnation of the name works in the same directory, or is about to be seated in it. */
async function hasSuccessorIn(tx: Tx, agent: Agent): Promise<boolean> {
  const newest = await tx.agents.byName(agent.name);
  if (newest === undefined || newest.id === agent.id) return false;
  const isComing = newest.worktreePath === null && !hasEnded(newest) && newest.branch === agent.branch;
  return isComing || newest.worktreePath === agent.worktreePath;
}

async function note(ports: CleaningPorts, agent: Agent, problem: string): Promise<void> {
  await ports.store.transaction((tx) =>
    record(tx, ports.clock.now(), {
      source: "engine",
      agent,
      type: "worktree_kept",
      level: "warn",
      data: { path: agent.worktreePath, problem },
    }),
  );
}
