import { readdirSync, readFileSync } from "node:fs";
import { entryOf, lastPid } from "../src/host/linux/process-table.ts";

/** Sees every agent process of every project while it lives, and remembers agents that had two at once. */
export interface AgentSampler extends Disposable {
  /** Each moment at which an agent of this project had two programs, or processes of two turns; one line per pair. */
  doubles(root: string): string[];
}

interface Member {
  readonly pid: number;
  readonly root: string;
  readonly agent: string;
  readonly turn: string;
  /** The process has kept the same command line for so long that it will not change any more. */
  settled?: { readonly isProgram: boolean };
}

const everyMs = 10;
/**
 * Between fork and exec a process shows the variables of its parent. After this many looks it is taken as it appears.
 */
const doubtfulLooks = 20;

/**
 * Looks at all processes every ten milliseconds. Nothing needs to be known of them beforehand: each agent's process, and
 * whatever it starts, carries the project, the agent and the turn in its environment.
 */
export function sampleAgents(): AgentSampler {
  const members = new Map<number, Member>();
  const looks = new Map<number, number>();
  const found = new Map<string, Set<string>>();
  let newest: number | undefined;
  const look = (): void => {
    const before = newest;
    newest = lastPid();
    // No process was started since, and every one that is there has shown what it is.
    if (before !== undefined && before === newest && !isInDoubt(members, looks)) return;
    const pids = listed();
    for (const known of [members, looks]) for (const pid of known.keys()) if (!pids.has(pid)) known.delete(pid);
    for (const pid of pids) {
      const seen = looks.get(pid) ?? 0;
      if (seen > doubtfulLooks) continue;
      looks.set(pid, seen + 1);
      if (members.has(pid)) continue;
      const member = memberOf(pid);
      if (member !== undefined) members.set(pid, member);
    }
    for (const member of members.values()) settle(member, looks.get(member.pid) ?? 0);
    for (const [root, pair] of pairsIn(members)) found.set(root, (found.get(root) ?? new Set()).add(pair));
  };
  const timer = setInterval(look, everyMs);
  return {
    doubles: (root) => [...(found.get(root) ?? [])],
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function listed(): Set<number> {
  return new Set(
    readdirSync("/proc")
      .map(Number)
      .filter((pid) => Number.isInteger(pid)),
  );
}

function memberOf(pid: number): Member | undefined {
  const environment = textOf(pid, "environ");
  if (!environment.includes("OVERSTORY_TURN_ID=")) return undefined;
  const value = (name: string): string | undefined => new RegExp(`(?:^|\\0)${name}=([^\\0]*)`).exec(environment)?.[1];
  const [root, agent, turn] = ["OVERSTORY_PROJECT_ROOT", "OVERSTORY_AGENT_NAME", "OVERSTORY_TURN_ID"].map(value);
  return root === undefined || agent === undefined || turn === undefined ? undefined : { pid, root, agent, turn };
}

const isInDoubt = (members: ReadonlyMap<number, Member>, looks: ReadonlyMap<number, number>): boolean =>
  members.values().some(({ settled }) => settled === undefined) || looks.values().some((seen) => seen <= doubtfulLooks);

/** A process behind the start gate may still become the agent's program, however long it has been there. */
function settle(member: Member, seen: number): void {
  if (member.settled !== undefined || seen <= doubtfulLooks || !acts(member.pid)) return;
  member.settled = { isProgram: isProgram(member.pid) };
}

/** Reads files only of agents that have several processes, and of these only where the answer can have changed. */
function* pairsIn(members: ReadonlyMap<number, Member>): Iterable<[root: string, pair: string]> {
  const groups = Map.groupBy(members.values(), ({ root, agent }) => `${root}\0${agent}`);
  for (const group of groups.values()) {
    let other: Member | undefined;
    let twin: Member | undefined;
    for (const member of group.length > 1 ? group : []) {
      const { pid, root, agent, turn } = member;
      if (other !== undefined && other.turn !== turn && acts(pid) && acts(other.pid))
        yield [root, `${agent}: ${describe(other.pid)} of ${other.turn} and ${describe(pid)} of ${turn}`];
      other = member;
      if (!(member.settled?.isProgram ?? isProgram(pid))) continue;
      // What settled as a program may have ended since, and wait for its parent.
      const areBoth = twin !== undefined && isProgram(pid) && isProgram(twin.pid);
      if (twin !== undefined && areBoth && !isForkOf(pid, twin.pid) && !isForkOf(twin.pid, pid))
        yield [root, `${agent}: programs ${twin.pid} and ${pid}`];
      twin = member;
    }
  }
}

/** Dead ones wait for their parent, and one behind the start gate does nothing yet. */
function acts(pid: number): boolean {
  const words = textOf(pid, "cmdline");
  return words !== "" && !words.includes("\0ov-agent\0");
}

const isProgram = (pid: number): boolean => textOf(pid, "cmdline").split("\0")[1] === "scripted-agent";

/** A tool on its way from fork to exec still looks like the program that starts it. */
const isForkOf = (child: number, parent: number): boolean => entryOf(child)?.parent === parent;

const describe = (pid: number): string => `${pid} (${textOf(pid, "cmdline").split("\0").slice(0, 4).join(" ").trim()})`;

/** A process that is gone says nothing. */
function textOf(pid: number, file: "environ" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    // Gone since it was listed, or another user's: not one of ours either way.
    return "";
  }
}
