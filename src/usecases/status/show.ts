import { ok } from "../../domain/result.ts";
import { fields, flag, noFields, text } from "../../domain/schema/schema.ts";
import type { StartOfWork } from "../branches/start-of-work.ts";
import type { MailTimes } from "../mail/last-times.ts";
import type { Unpromoted } from "../merge/landing/unpromoted.ts";
import type { Effect, World } from "../operation.ts";
import type { Overview } from "./overview.ts";

export interface ShownStatus extends Overview, DiskState {
  /** Of each shown agent, by its name; null unless it was asked for. */
  readonly details: ReadonlyMap<string, AgentDetails> | null;
  /** Where new agents start on landing branches that could not take their target in. */
  readonly starts: readonly RunStart[];
}

export interface AgentDetails extends MailTimes {
  /** Where the output of its turns is kept. */
  readonly logsDir: string;
}

export interface DiskState {
  /** A sentence that the disk with the project's state is full; null while it has space. */
  readonly fullDisk: string | null;
}

/** `runs`: the active runs that land there. None: no run is active, and the next one starts there. */
export interface RunStart extends StartOfWork {
  readonly runs: readonly string[];
}

export interface StatusRequest {
  readonly all: boolean;
  readonly mailbox: string;
  /** Also when each agent last wrote and got mail, which takes some queries for each of them. */
  readonly details?: boolean | undefined;
}

/** The overview, with what only git knows about the landing branches in it. */
export const showStatus: Effect<StatusRequest, ShownStatus> = {
  kind: "effect",
  request: fields({ all: flag, mailbox: text }, { details: flag }),
  place: "caller",
  run: async (world, { all, mailbox, details }) => {
    const found = await world.call("status.overview", { all, mailbox });
    if (!found.ok) return found;
    return ok({
      ...found.value,
      ...(await lookedAt(world, found.value)),
      fullDisk: world.fullDisk() ?? null,
      details: details === true ? await detailsOf(world, found.value) : null,
    });
  },
};

async function detailsOf(world: World, { agents }: Overview): Promise<ReadonlyMap<string, AgentDetails>> {
  const names = agents.map(({ agent }) => agent.name);
  const [times, { state }] = [await world.call("mail.lastTimes", { names }), await world.place()];
  const known = times.ok ? times.value.times : [];
  return new Map(known.map((one) => [one.name, { ...one, logsDir: `${state}/logs/${one.name}` }]));
}

/** Whether work can go on at all. On a full disk no engine can write down what went wrong. */
export const showDisk: Effect<object, DiskState> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => ok({ fullDisk: world.fullDisk() ?? null }),
};

/**
 * Compares landing branches whose work waits with git. A person may have merged one by hand, or have reset the target to
 * before a promotion that was taken out of the landing branch since: then nothing waits. And the
 * target may have commits that could not be taken in. Agents of a run that is active start there, and no others; where no
 * run is active, the next one goes on from the newest work.
 */
async function lookedAt(
  world: World,
  { run, unpromoted: known }: Overview,
): Promise<Pick<ShownStatus, "unpromoted" | "starts">> {
  const unpromoted: Unpromoted[] = [];
  const starts: RunStart[] = [];
  for (const landed of known) {
    const { landing, target, openRuns } = landed;
    const runId = openRuns[0] ?? (run === null ? null : landed.runId);
    const found = await world.call("branch.findStart", { target, runId });
    const start = found.ok ? found.value : undefined;
    if (start?.promoted.includes(landing) === true) continue;
    const takenOut = (await hasPromoted(world, landed)) ? landed.takenOut : 0;
    if (landed.landings > 0 || takenOut > 0) unpromoted.push({ ...landed, takenOut });
    const isOpen = start?.missingCommits === "failed" || start?.missingCommits === "rewritten";
    const isStart = start?.branch === landing && (openRuns.length > 0 || run === null);
    if (isStart && isOpen) starts.push({ ...start, runs: openRuns });
  }
  return { unpromoted, starts };
}

/** Does the target still have the last promotion? Git is asked only where the answer changes the shown status. */
async function hasPromoted({ lookAhead }: World, { target, takenOut, promoted }: Unpromoted): Promise<boolean> {
  if (takenOut === 0 || promoted === null) return true;
  return lookAhead(async (git) => {
    const [tip, commit] = [await git.commitOf(`refs/heads/${target}`), await git.commitOf(promoted)];
    return tip !== undefined && commit !== undefined && git.contains(tip, commit);
  });
}
