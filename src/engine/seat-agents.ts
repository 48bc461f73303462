import type { Agent } from "../domain/agent/agent.ts";
import { failureOf } from "../domain/failure.ts";
import type { MergeEntry } from "../domain/merge/entry.ts";
import { isIntegration } from "../domain/merge/landing-branch.ts";
import { unsettledLines } from "../domain/worktree/change.ts";
import type { MergeGit } from "../ports/merge-git.ts";
import type { Tx } from "../ports/store.ts";
import type { Seat } from "../ports/worktrees.ts";
import { notice, record } from "../usecases/events/record.ts";
import { isUnderWay, takeInUnderWay } from "../usecases/merge/landing/landing-target.ts";
import { unlessDamaged } from "../usecases/worktrees/survey.ts";
import { type CleaningPorts, cleaningOf, cleanUp, isRemovedByOther } from "./housework.ts";
import { catchUp, ensureLandingBranch, type LandingPorts } from "./merge/landing-branch.ts";
import { type Start, startOn, type TipPorts } from "./merge/landing-tip.ts";
import { baseOfTakenOut } from "./merge/taken-out.ts";
import type { EnginePorts } from "./ports.ts";
import { seated, startFailed, tell } from "./seat-facts.ts";
import { SingleFlight } from "./single-flight.ts";
import { remember } from "./supervisor/conserve.ts";

export type SeatPorts = CleaningPorts &
  LandingPorts &
  TipPorts & { readonly merging: Pick<MergeGit, "baseOf"> } & Pick<
    EnginePorts,
    "root" | "worktreePath" | "ids" | "report" | "rules"
  >;

/** Git adds worktrees one at a time, but the files of one can be written while the next is added. */
const atOnce = 4;

const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** How long a new agent waits for the target's newest commits. Then it starts without them. */
const longestTakeInMs = 5 * 60_000;

/**
 * Gives every reserved agent its worktree, and reports each at once: the first need not wait for the last, and the
 * failure of one does not delay the others. A repetition after a crash finds worktrees that were made before. A problem
 * of the whole program, such as a full disk, is no failure of the agent: it stays reserved and is tried again, with
 * growing pauses. An agent whose landing branch takes in its target's commits is tried again when their merge has
 * ended: the merge worker wakes the engine then, and until then each look costs one read of the store and no git
 * process.
 */
export class Seating {
  readonly #ports: SeatPorts;
  readonly #busy = new Map<string, { readonly name: string; readonly seating: Promise<void> }>();
  readonly #later = new Map<string, { readonly tries: number; readonly nextAt: number }>();
  /** By the id of the agent: the entry that brings the commits it waits for, and how long it waits at most. */
  readonly #awaited = new Map<string, { readonly entry: MergeEntry; readonly until: number }>();
  readonly #flight: SingleFlight;
  readonly #stop: AbortSignal;
  readonly #wake: () => void;

  /** `wake` is called after each agent whose fate is known. */
  constructor(ports: SeatPorts, { stop, wake }: { readonly stop: AbortSignal; readonly wake: () => void }) {
    this.#ports = ports;
    this.#stop = stop;
    this.#wake = wake;
    this.#flight = new SingleFlight(() => this.#pass(), { report: ports.report, wake });
  }

  look(): void {
    this.#flight.ask();
  }

  /** Some agent is being seated. */
  get isBusy(): boolean {
    return this.#busy.size > 0;
  }

  /** Resolves when no agent is being seated. */
  async settled(): Promise<void> {
    for (;;) {
      await this.#flight.settled();
      if (this.#busy.size === 0) return;
      await Promise.all(this.#seatings());
    }
  }

  /** In how many milliseconds the next seat is tried again. */
  dueInMs(): number | undefined {
    const due = [
      ...[...this.#later.values()].map(({ nextAt }) => nextAt),
      ...[...this.#awaited.values()].map(({ until }) => until),
    ];
    const moments = due.map((at) => at - this.#ports.clock.monotonic());
    return moments.length === 0 ? undefined : Math.max(0, Math.min(...moments));
  }

  /** Begins as many as may be seated at once. The end of each asks for the next pass. */
  async #pass(): Promise<false> {
    for (const { id, name } of await this.#waiting()) {
      // An engine that is to stop leaves the rest reserved, for the next engine.
      if (this.#stop.aborted || this.#busy.size >= atOnce) break;
      // Two incarnations would be given the same directory: the later one waits for the earlier.
      if ([...this.#busy.values()].some((other) => other.name === name)) continue;
      await this.#begin({ id, name });
    }
    return false;
  }

  #seatings(): readonly Promise<void>[] {
    return [...this.#busy.values()].map(({ seating }) => seating);
  }

  async #waiting(): Promise<readonly Agent[]> {
    const { store, clock } = this.#ports;
    const now = clock.monotonic();
    const { unseated, held } = await store.read(async (tx) => {
      const agents = await tx.agents.unseated();
      const waits = new Set<string>();
      for (const { id } of agents) {
        const awaited = this.#awaited.get(id);
        if (awaited !== undefined && awaited.until > now && (await isComing(tx, awaited.entry, clock.now())))
          waits.add(id);
      }
      return { unseated: agents, held: waits };
    });
    const ids = new Set(unseated.map(({ id }) => id));
    for (const known of [this.#later, this.#awaited]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    }
    return unseated.filter(({ id }) => !held.has(id) && (this.#later.get(id)?.nextAt ?? 0) <= now);
  }

  /** Resolves when the next may begin: the first of a run makes the branch that its others start from. */
  async #begin({ id, name }: Pick<Agent, "id" | "name">): Promise<void> {
    const place = placeFor(this.#ports, id, this.#awaited.get(id)?.entry);
    const seating = this.#try(id, place).then((isKnown) => {
      this.#busy.delete(id);
      if (isKnown) this.#wake();
      this.#flight.ask();
    });
    this.#busy.set(id, { name, seating });
    await Promise.allSettled([place]);
  }

  /** Never rejects. True when it is known what becomes of the agent. */
  async #try(id: string, place: Promise<Place | Awaits | undefined>): Promise<boolean> {
    const { report, clock } = this.#ports;
    try {
      const found = await place;
      if (found !== undefined && "awaits" in found) {
        this.#awaited.set(id, { entry: found.awaits, until: clock.monotonic() + longestTakeInMs });
        // The merge worker must learn of the entry.
        this.#wake();
        return false;
      }
      const fate = found === undefined ? "none" : await seat(this.#ports, found);
      if (fate === "later") {
        this.#later.set(id, { tries: 0, nextAt: clock.monotonic() + firstPauseMs });
        return false;
      }
      this.#later.delete(id);
      this.#awaited.delete(id);
      return fate === "known";
    } catch (error) {
      report(error);
      const ended = (await giveUp(this.#ports, id, error).catch(report)) === true;
      const tries = (this.#later.get(id)?.tries ?? 0) + 1;
      const pauseMs = Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs);
      if (ended) this.#later.delete(id);
      else this.#later.set(id, { tries, nextAt: clock.monotonic() + pauseMs });
      return ended;
    }
  }
}

/** An entry that a newer commit of the target took the place of is waited for in its place. */
async function isComing(tx: Tx, { id, targetBranch }: MergeEntry, now: number): Promise<boolean> {
  const entry = await tx.merges.get(id);
  if (entry?.status === "superseded") return (await takeInUnderWay(tx, targetBranch, now)) !== undefined;
  return entry !== undefined && isUnderWay(entry, now);
}

/** False when it was nothing about this agent. */
async function giveUp(ports: SeatPorts, id: string, error: unknown): Promise<boolean> {
  const failure = failureOf(error);
  if (failure.kind !== "unexpected" && failure.kind !== "no-access" && failure.kind !== "worktree-damaged")
    return false;
  await ports.store.transaction(async (tx) => {
    const agent = await tx.agents.get(id);
    if (agent !== undefined) await startFailed(tx, ports, agent, failure.problem);
  });
  return true;
}

interface Place {
  readonly agent: Agent;
  readonly baseRef: string;
  /** The commit of a landing branch that the agent starts at. Undefined: the agent starts at the tip of `baseRef`. */
  readonly start?: Start | undefined;
  /** The open entry that would bring the target's newest commits; the agent starts without them. */
  readonly without?: MergeEntry | undefined;
}

/** The target's own commits are on their way to the landing branch. The agent starts when they have arrived. */
interface Awaits {
  readonly awaits: MergeEntry;
}

/** `later`: a command takes the last worktree of the name away. */
async function seat(ports: SeatPorts, { agent, baseRef, start, without }: Place): Promise<"known" | "later"> {
  if (agent.worktreeKind === "root") {
    await seatAtRoot(ports, agent, baseRef);
    return "known";
  }
  if (start !== undefined && "problem" in start) {
    await ports.store.transaction((tx) => startFailed(tx, ports, agent, start.problem));
    return "known";
  }
  await makeRoom(ports, agent);
  if (await isRemovedByOther(ports, agent.name)) return "later";
  ports.reach("seat.before-worktree");
  const path = ports.worktreePath(agent.name);
  const goesOn = await ports.store.read((tx) => isRecovered(tx, agent));
  const request = {
    agentName: agent.name,
    branch: agent.branch ?? "",
    path,
    kind: agent.worktreeKind,
    baseRef: start?.commit ?? baseRef,
    identity: goesOn ? agent.worktreeIdentity : null,
    lastCommit: goesOn && agent.ahead > 0 ? agent.headCommit : null,
  };
  const lost = goesOn ? await ports.worktrees.intendRestore(request) : undefined;
  if (lost !== undefined) {
    await ports.store.transaction((tx) => startFailed(tx, ports, agent, lost));
    return "known";
  }
  const created = await ports.worktrees.create(request);
  ports.reach("seat.after-worktree");
  if (created.ok && goesOn) await bringBack(ports, agent, created.value);
  // Git has the commits of work that landed and was taken out in both branches; they are this agent's work again.
  const out = created.ok && goesOn ? await baseOfTakenOut(ports, created.value, request.baseRef) : undefined;
  await ports.store.transaction((tx) =>
    created.ok
      ? seated(tx, ports, agent, {
          ...created.value,
          baseCommit: out?.base ?? created.value.baseCommit,
          baseRef,
          without,
        })
      : startFailed(tx, ports, agent, created.refusal.problem),
  );
  ports.reach("seat.after-fact");
  return "known";
}

/** It goes on where an earlier incarnation stopped, on the same branch. */
async function isRecovered(tx: Tx, { id, name, generation, branch }: Agent): Promise<boolean> {
  if (generation === 1 || branch === null) return false;
  const handoffs = await tx.recovery.handoffs(name);
  if (!handoffs.some(({ toGeneration, reason }) => toGeneration === generation && reason === "recovered")) return false;
  return (await tx.agents.list({ branch })).some((other) => other.name === name && other.id !== id);
}

/** Uncommitted work of an earlier incarnation on the same branch comes back with the worktree. */
async function bringBack(ports: SeatPorts, agent: Agent, { path, identity, branch, baseCommit }: Seat): Promise<void> {
  const { name: agentName, generation, worktreeKind: kind } = agent;
  const worktree = { agentName, generation, path, identity, branch, kind, baseCommit };
  const restored = await ports.worktrees.restore(worktree);
  const looked = await unlessDamaged(async () => {
    const unsettled = await ports.worktrees.unsettled(worktree);
    return { unsettled, kept: unsettled === undefined ? undefined : await ports.worktrees.snapshot(worktree) };
  });
  const { unsettled, kept } = looked.ok ? looked.value : {};
  const lines = [
    ...(looked.ok ? [] : [`Git cannot read all of the worktree: ${looked.refusal}.`]),
    ...(unsettled === undefined ? [] : unsettledLines(unsettled)),
    ...(kept === undefined ? [] : [`All of it is kept as ${kept.ref}.`]),
    ...(restored?.left == null ? [] : [leftLine(branch, restored.left)]),
  ];
  await ports.store.transaction(async (tx) => {
    const now = ports.clock.now();
    if (restored !== undefined) {
      await record(tx, now, { source: "engine", agent, type: "work_restored", data: restored });
    }
    if (kept !== undefined) await remember(tx, agent, kept, now);
    if (lines.length === 0 || !(await notice(tx, { kind: "unsettled_work", about: agent.id }))) return;
    await tell(tx, ports, agent, {
      recipients: [...new Set([agentName, agent.parentName, "operator"])],
      subject: `[ENGINE] not all work of ${agentName} is on its branch`,
      body: lines.join("\n"),
    });
  });
}

/** `ref`: work of an earlier incarnation, done on another commit than the tip of the branch. */
function leftLine(branch: string, { ref, onTop }: { readonly ref: string; readonly onTop: string | null }): string {
  const name = ref.replace("refs/overstory/", "");
  const where = onTop === null ? "" : `, done at ${onTop.slice(0, 12)},`;
  return `Work that is kept as ${ref}${where} does not fit where ${branch} is, and was not brought back. Look at it: ov snapshots show ${name}`;
}

/** A released namesake that worked on another branch may still have its worktree where this one's shall be. */
async function makeRoom(ports: SeatPorts, { name, branch }: Agent): Promise<void> {
  const released = await ports.store.read((tx) => tx.agents.toClean());
  for (const earlier of released) {
    if (earlier.name !== name) continue;
    // The worktree of the same branch is ours now. If another process has begun to remove it, that removal ends first.
    await (earlier.branch === branch ? cleaningOf(earlier) : cleanUp(ports, earlier));
  }
}

/**
 * The commit or checkout in which an agent starts. New work starts from landed work. Agents that only coordinate read
 * the project's own checkout. Undefined for an agent that was stopped while it waited. `awaited`: the merge that the
 * agent has waited for; it has ended, met trouble, or took too long. An agent waits once: a target that moves on again
 * keeps no agent from starting.
 */
async function placeFor(
  ports: SeatPorts,
  id: string,
  awaited: MergeEntry | undefined,
): Promise<Place | Awaits | undefined> {
  const { canonicalBranch } = ports.settings;
  const { agent, run } = await ports.store.read(async (tx) => {
    const found = await tx.agents.get(id);
    return { agent: found, run: found === undefined ? undefined : await tx.runs.get(found.runId) };
  });
  if (agent === undefined || agent.state !== "booting") return undefined;
  if (agent.worktreeKind === "root") {
    return { agent, baseRef: (await ports.worktrees.currentBranch()) ?? canonicalBranch };
  }
  // Decided for an agent with a start of its own, too: what says where its work lands reads it from the run.
  const decided = run === undefined ? undefined : await ensureLandingBranch(ports, run);
  const landing = agent.baseRef === null ? decided : undefined;
  const baseRef = agent.baseRef ?? landing ?? canonicalBranch;
  if (!isIntegration(baseRef)) {
    return landing === undefined ? { agent, baseRef } : { agent, baseRef, start: await startOn(ports, landing) };
  }
  // An agent that goes on where it stopped, or starts from a named branch, has its start already.
  const isNew = landing !== undefined && !(await ports.store.read((tx) => isRecovered(tx, agent)));
  const entry = isNew ? await takeInFor(ports, { agent, landing, awaited }) : undefined;
  if (entry !== undefined && awaited === undefined && isUnderWay(entry, ports.clock.now())) return { awaits: entry };
  return { agent, baseRef, start: await startOn(ports, baseRef), without: entry };
}

interface TakeIn {
  readonly agent: Agent;
  readonly landing: string;
  readonly awaited: MergeEntry | undefined;
}

/** The open entry that brings the target's newest commits to the landing branch; undefined when there is none. */
async function takeInFor(ports: SeatPorts, { agent, landing, awaited }: TakeIn): Promise<MergeEntry | undefined> {
  if (awaited === undefined) return catchUp(ports, landing, agent.runId);
  const { id, branch, targetBranch } = awaited;
  return ports.store.read(async (tx) =>
    (await tx.merges.get(id))?.status === "merged" ? undefined : tx.merges.openOf(branch, targetBranch),
  );
}

async function seatAtRoot(ports: SeatPorts, agent: Agent, baseRef: string): Promise<void> {
  const seat = { worktreePath: ports.root, worktreeIdentity: null, branch: baseRef, baseRef, baseCommit: "" };
  await ports.store.transaction((tx) => tx.agents.seated(agent.id, seat));
}
