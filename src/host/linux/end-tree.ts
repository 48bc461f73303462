import { leastMark, type Mark, type ProcessIdentity } from "../../domain/process/process.ts";
import type { KillReport, KnownBy } from "../../ports/process.ts";
import { lockLimitOf } from "./mark.ts";
import { allProcesses, bootId, carries, entryOf, lastPid, type ProcessEntry, startTokenAgo } from "./process-table.ts";

/** Names the run of a gate to all that it starts. */
export const gateRunVariable = "OVERSTORY_GATE_RUN";

const pollMs = 20;
/** SIGKILL cannot be refused. A process that is still there after this time is in an uninterruptible system call. */
const verifyMs = 3_000;
/** How many looks must find no process while other programs start processes all the time. */
const mostLooks = 5;
const longestPauseMs = 10;
const chaseMs = 15;
/** A chain of processes gets its next number sooner than this, or its last process is there to be seen by the next look. */
const quietMs = 3;
/** By now a process is what it was started as: between fork and exec it shows the variables of its parent. */
const settledMs = 1_000;

/**
 * The real CLIs start their tools in sessions of their own, where a group signal does not reach: descendants are
 * collected first, while the parent links still hold, and each is signalled only if it is still the same process. A
 * root that is another process by now is left alone, and so is everything around it.
 */
export async function endTree(
  root: ProcessIdentity,
  graceMs: number,
  { turnId, gateRun, mark }: KnownBy = {},
): Promise<KillReport> {
  if (root.bootId !== bootId()) return nobody;
  const ofTurn = turnId === undefined ? undefined : { name: "OVERSTORY_TURN_ID", value: turnId };
  const variable = gateRun === undefined ? ofTurn : { name: gateRunVariable, value: gateRun };
  return end(new Tree(root, { variable, mark, hidden: gateRun !== undefined }), graceMs);
}

/** Ends whatever was started for an agent in any of its turns, and everything below that, though all else is gone. */
export const endStartedFor = (agentId: string, graceMs: number): Promise<KillReport> =>
  end(new Tree(undefined, { variable: { name: "OVERSTORY_SESSION_ID", value: agentId } }), graceMs);

async function end(tree: Tree, graceMs: number): Promise<KillReport> {
  let asked = await tree.aliveForSure();
  if (asked.length === 0) return nobody;
  for (const entry of asked) signal(entry, "SIGTERM");
  await until(() => {
    if (asked.some(isAlive)) return false;
    // What was started meanwhile, perhaps to tidy up, is asked as well and has the rest of the time.
    asked = tree.alive();
    for (const entry of asked) signal(entry, "SIGTERM");
    return asked.length === 0;
  }, graceMs);
  const killed = new Set<number>();
  const kill = (entry: ProcessEntry): void => {
    signal(entry, "SIGKILL");
    killed.add(entry.pid);
  };
  const deadline = performance.now() + verifyMs;
  let left = await tree.aliveForSure(kill);
  while (left.length > 0 && performance.now() < deadline) {
    for (const entry of left) kill(entry);
    await Bun.sleep(pollMs);
    left = await tree.aliveForSure(kill);
  }
  const survivors = left.map(({ pid }) => pid);
  const gone = tree.found.filter((pid) => !survivors.includes(pid));
  return {
    signalled: tree.found.length,
    escalated: killed.size > 0,
    survivors,
    ended: gone.map((pid) => ({ pid, escalated: killed.has(pid) })),
  };
}

const nobody: KillReport = { signalled: 0, escalated: false, survivors: [], ended: [] };

/** What a process was started with, and passes on to its children. */
interface Inherited {
  readonly variable?: { readonly name: string; readonly value: string } | undefined;
  readonly mark?: Mark | undefined;
  /** Also what lowered its limit below every mark since the root was started: no agent needs that, and a gate might. */
  readonly hidden?: boolean;
}

/** Everything that was seen to belong to a root or to carry what was inherited, the dead included: their sessions and groups may outlive them. */
class Tree {
  readonly #root: ProcessIdentity | undefined;
  readonly #inherited: Inherited;
  readonly #members = new Map<number, ProcessEntry>();
  /** Start tokens of processes that inherited nothing, by pid: one look at their files is enough. */
  readonly #strangers = new Map<number, string>();
  readonly #settledBefore = startTokenAgo(settledMs);

  constructor(root: ProcessIdentity | undefined, inherited: Inherited) {
    this.#root = root;
    this.#inherited = inherited;
  }

  /** Everybody who was alive when first seen. */
  get found(): readonly number[] {
    return [...this.#members.values()].filter(({ defunct }) => !defunct).map(({ pid }) => pid);
  }

  /** Looks at all processes again and answers the members that live now. */
  alive(): ProcessEntry[] {
    const all = allProcesses();
    const now = new Map(all.map((entry) => [entry.pid, entry]));
    for (let grew = true; grew; ) {
      grew = false;
      for (const entry of all) {
        if (entry.pid === process.pid || this.#has(entry) || !this.#claims(entry, now)) continue;
        this.#members.set(entry.pid, entry);
        grew = true;
      }
    }
    return all.filter((entry) => !entry.defunct && this.#has(entry));
  }

  /**
   * The same, where nobody may be overlooked. A process that forks and leaves, again and again, is seldom there when its
   * row is read. A look that found nobody is believed where no process was started during it; elsewhere it is repeated,
   * each time with a chase along the newest numbers, where such a process must be. Whoever is found there goes to `kill`
   * at once.
   */
  async aliveForSure(kill?: (entry: ProcessEntry) => void): Promise<ProcessEntry[]> {
    for (let looks = 1; ; looks++) {
      const before = lastPid();
      const seen = this.alive();
      if (seen.length > 0) return seen;
      if (before !== undefined && before === lastPid()) return [];
      const caught = this.#chase(kill);
      if (caught.length > 0) return caught;
      if (looks === mostLooks) return [];
      await Bun.sleep(Math.random() * longestPauseMs);
    }
  }

  /** Follows the numbers that are given to new processes, as fast as we can read. */
  #chase(kill: (entry: ProcessEntry) => void = () => {}): ProcessEntry[] {
    const caught: ProcessEntry[] = [];
    const until = performance.now() + chaseMs;
    let next = lastPid() ?? 0;
    let newest = next;
    let quietFrom = performance.now();
    for (let now = quietFrom; now < until && now - quietFrom < quietMs; next++, now = performance.now()) {
      const last = lastPid() ?? 0;
      if (last !== newest) quietFrom = now;
      newest = last;
      // Every number so far was looked at, or they began anew.
      if (next > last) next = last;
      const entry = entryOf(next);
      if (entry === undefined || entry.defunct || entry.pid === process.pid) continue;
      if (!this.#has(entry) && !this.#claims(entry, new Map([[entry.pid, entry]]))) continue;
      this.#members.set(entry.pid, entry);
      kill(entry);
      caught.push(entry);
    }
    return caught;
  }

  #has({ pid, startToken }: ProcessEntry): boolean {
    return this.#members.get(pid)?.startToken === startToken;
  }

  #claims(entry: ProcessEntry, now: ReadonlyMap<number, ProcessEntry>): boolean {
    if (entry.pid === this.#root?.pid) return entry.startToken === this.#root.startToken;
    if ([entry.parent, entry.group, entry.session].some((pid) => this.#leads(pid, now))) return true;
    if (this.#strangers.get(entry.pid) === entry.startToken) return false;
    if (this.#inherits(entry)) return true;
    if (Number(entry.startToken) < this.#settledBefore) this.#strangers.set(entry.pid, entry.startToken);
    return false;
  }

  #inherits(entry: ProcessEntry): boolean {
    const { variable, mark, hidden = false } = this.#inherited;
    const limit = mark === undefined ? undefined : lockLimitOf(entry.pid);
    if (limit !== undefined && (limit === mark || (hidden && limit < leastMark && this.#isYounger(entry)))) return true;
    return variable !== undefined && carries(entry.pid, variable.name, variable.value);
  }

  #isYounger({ startToken }: ProcessEntry): boolean {
    return Number(startToken) >= Number(this.#root?.startToken);
  }

  /** The kernel gives the number of a group or session to no new process while that group or session exists. */
  #leads(pid: number, now: ReadonlyMap<number, ProcessEntry>): boolean {
    const member = this.#members.get(pid);
    const holder = now.get(pid);
    return member !== undefined && (holder === undefined || holder.startToken === member.startToken);
  }
}

function isAlive(entry: ProcessEntry): boolean {
  const now = entryOf(entry.pid);
  return now !== undefined && !now.defunct && now.startToken === entry.startToken;
}

function signal(entry: ProcessEntry, name: "SIGTERM" | "SIGKILL"): void {
  if (!isAlive(entry)) return;
  try {
    process.kill(entry.pid, name);
  } catch (error) {
    // It went away between the look and the signal, which is what we wanted; or it became another user's, whom we may
    // not end, and it is reported as a survivor.
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM"))) throw error;
  }
}

/** Asks until the answer is yes or the time is up. */
async function until(done: () => boolean, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (!done() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, pollMs));
}
