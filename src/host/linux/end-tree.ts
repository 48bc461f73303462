import { leastMark, type Mark, type ProcessIdentity } from "../../domain/process/process.ts";
import type { KillReport, KnownBy } from "../../ports/process.ts";
import { lockLimitOf } from "./mark.ts";
import { allProcesses, bootId, carries, entryOf, lastPid, type ProcessEntry, startTokenAgo } from "./process-table.ts";

/** Every process that a gate starts has this variable. Its value is the id of the gate's run. */
export const gateRunVariable = "OVERSTORY_GATE_RUN";

const pollMs = 20;
/** SIGKILL cannot be refused. A process that is still there after this time is in an uninterruptible system call. */
const verifyMs = 3_000;
/** On a machine where other programs start processes all the time, this many looks in a row must find no process. */
const mostLooks = 5;
const longestPauseMs = 10;
const chaseMs = 15;
/** A chase ends when no new process was started for this time: a process of ours would be there for the next look. */
const quietMs = 3;
/** Between fork and exec a process shows the variables of its parent. A process that is older than this shows its own. */
const settledMs = 1_000;

/**
 * Ends a process and all its descendants. The real CLIs start their tools in sessions of their own, which a signal to the
 * process group does not reach. So the descendants are collected first, while the links to their parents hold, and each
 * one gets a signal only if it is still the same process. If the number of the root belongs to another process by now,
 * nothing is ended.
 */
export async function endTree(
  root: ProcessIdentity,
  graceMs: number,
  { turnId, gateRun, mark }: KnownBy = {},
): Promise<KillReport> {
  if (root.bootId !== bootId()) return nothingEnded;
  const ofTurn = turnId === undefined ? undefined : { name: "OVERSTORY_TURN_ID", value: turnId };
  const variable = gateRun === undefined ? ofTurn : { name: gateRunVariable, value: gateRun };
  return end(new Tree(root, { variable, mark, hidden: gateRun !== undefined }), graceMs);
}

/** Ends every process that was started for an agent in any of its turns, also where the agent's own process has ended. */
export const endStartedFor = (agentId: string, graceMs: number): Promise<KillReport> =>
  end(new Tree(undefined, { variable: { name: "OVERSTORY_SESSION_ID", value: agentId } }), graceMs);

async function end(tree: Tree, graceMs: number): Promise<KillReport> {
  let asked = await tree.aliveForSure();
  if (asked.length === 0) return nothingEnded;
  for (const entry of asked) signal(entry, "SIGTERM");
  await until(() => {
    if (asked.some(isAlive)) return false;
    // Processes that started meanwhile, perhaps to tidy up, get the signal too and have the rest of the time.
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

const nothingEnded: KillReport = { signalled: 0, escalated: false, survivors: [], ended: [] };

/** What a process was started with, and passes on to its children. */
interface Inherited {
  readonly variable?: { readonly name: string; readonly value: string } | undefined;
  readonly mark?: Mark | undefined;
  /**
   * Also processes that are younger than the root and have lowered their limit below every mark. A gate could hide a
   * process in this way.
   */
  readonly hidden?: boolean;
}

/**
 * The processes that belong to a root, or that carry what its processes inherit. Processes that have ended stay in the tree,
 * because their sessions and groups may outlive them.
 */
class Tree {
  readonly #root: ProcessIdentity | undefined;
  readonly #inherited: Inherited;
  readonly #members = new Map<number, ProcessEntry>();
  /** Start tokens, by pid, of processes that are known not to belong to the tree. Their files are read only once. */
  readonly #strangers = new Map<number, string>();
  readonly #settledBefore = startTokenAgo(settledMs);

  constructor(root: ProcessIdentity | undefined, inherited: Inherited) {
    this.#root = root;
    this.#inherited = inherited;
  }

  /** Pids of the members that were alive when a look first saw them. */
  get found(): readonly number[] {
    return [...this.#members.values()].filter(({ defunct }) => !defunct).map(({ pid }) => pid);
  }

  /** Looks at all processes again. Answers the members that are alive now. */
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
   * The same, where no process may be overlooked. A process that forks and exits, again and again, is often gone before
   * its entry is read. A look that found no process is believed if no process was started during the look. Otherwise the
   * look is repeated, each time after a chase along the newest numbers, where such a process must be. A process that the
   * chase finds goes to `kill` at once.
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

  /** Reads the newest process numbers as fast as it can. Answers the members that it met. */
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
      // All numbers up to the newest were read, or the numbers began again at 1.
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
    // ESRCH: the process ended before the signal, as wanted. EPERM: the process belongs to another user now; we may not
    // end it, and it is reported as a survivor.
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM"))) throw error;
  }
}

/** Waits until `done` answers true, for at most `ms`. */
async function until(done: () => boolean, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (!done() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, pollMs));
}
