import { hasEnded, worktreeKinds } from "../../domain/agent/agent.ts";
import { atMost } from "../../domain/at-most.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, list, oneOf, orNull, type SchemaOf, text, whole } from "../../domain/schema/schema.ts";
import { cleanTargets, worktreeClasses } from "../../domain/worktree/classify.ts";
import type { Backup, BroughtBack, CleanDir, CleanFiles } from "../../ports/clean-files.ts";
import { everyAgent } from "../../ports/store/snapshots.ts";
import type { Tx } from "../../ports/store.ts";
import type { FoundBranch, OwnedWorktree } from "../../ports/worktrees.ts";
import { release } from "../agents/release-agent.ts";
import { endEngine } from "../engine/control.ts";
import { record } from "../events/record.ts";
import type { Effect } from "../operation.ts";
import { recordEnd } from "../runs/change-run.ts";
import { type OpenRun, openEndsOf } from "../runs/open-ends.ts";
import type { Context, UseCase } from "../usecase.ts";
import {
  claimRemoval,
  isHurt,
  type KeptWorktree,
  keptAsDamaged,
  type Removal,
  type Removed,
  removeOne,
  withoutBranch,
} from "./clean-worktrees.ts";
import { branchPolicy, type CleanPlan } from "./plan-clean.ts";
import { type WorktreePorts, worktreePorts, worktreesAtOnce } from "./survey.ts";

export interface CleanEffects extends Pick<CleanFiles, "backUp" | "emptyDir" | "moveTrash"> {
  /** Deletes messages of before this moment: an agent that is slung meanwhile keeps its dispatch. */
  purgeMail(before: number): Promise<Result<{ readonly purged: number }, Refusal>>;
}

export interface CleanReport {
  readonly backup: Backup;
  readonly worktrees: readonly Removed[];
  /** Those that git cannot read, also when that showed only now. */
  readonly keptWorktrees: readonly KeptWorktree[];
  readonly branchesDeleted: readonly string[];
  readonly problems: readonly string[];
  readonly messages: number;
  readonly usage: number;
  readonly events: number;
  readonly released: readonly string[];
  readonly runs: readonly string[];
  readonly dirs: readonly CleanDir[];
  readonly rescuesDeleted: number;
}

const verdict = { class: oneOf(worktreeClasses), reason: text, next: orNull(text) } as const;
const place = { agentName: text, path: text, branch: text } as const;

const planFields: SchemaOf<CleanPlan> = fields(
  {
    plannedAt: whole,
    live: list(text),
    worktrees: list(
      fields<Removal>(
        {
          worktree: fields<OwnedWorktree>(
            { ...place, generation: whole, kind: oneOf(worktreeKinds), baseCommit: orNull(text) },
            { identity: orNull(text), baseRef: orNull(text), isThrownAway: flag },
          ),
          verdict: fields(verdict),
          landed: flag,
          exists: flag,
          names: list(fields({ name: text, agentId: orNull(text) })),
          agentId: orNull(text),
          incarnations: list(text),
        },
        { tip: text },
      ),
    ),
    keptWorktrees: list(fields({ ...place, ...verdict })),
    branches: list(fields({ branch: text, tip: text })),
    keptBranches: list(fields({ branch: text, reason: text, next: text })),
    messages: whole,
    usage: whole,
    events: whole,
    sessions: list(text),
    endRuns: list(fields<OpenRun>({ runId: text, open: list(text) })),
    dirs: list(fields({ target: oneOf(cleanTargets), dir: text, entries: whole, backUp: flag })),
    rescues: list(fields({ ref: text, commit: text, skipped: list(text) })),
    emptiesTrash: flag,
    force: flag,
  },
  { agent: text, agentId: text },
);

/** Carries out a plan of `clean.plan`, as it was shown. */
export const runCleaning: Effect<CleanPlan, CleanReport> = {
  kind: "effect",
  request: planFields,
  place: "engine",
  run: async (world, plan) => {
    const files = await world.cleanFiles();
    const effects: CleanEffects = {
      backUp: files.backUp,
      emptyDir: files.emptyDir,
      moveTrash: files.moveTrash,
      purgeMail: (before) => world.call("mail.purge", { before }),
    };
    const done = await carryOutClean({ ...(await worktreePorts(world)), effects }, plan);
    if (done.ok) files.shrinkDatabase();
    return done;
  },
};

/** Does what a plan says, the backup first. Each step is safe to repeat, so a clean that was cut short is run again. */
export async function carryOutClean(
  ports: WorktreePorts & { readonly effects: CleanEffects },
  plan: CleanPlan,
): Promise<Result<CleanReport, Refusal>> {
  const names = plan.agent === undefined ? [everyAgent] : [plan.agent];
  const expected = names.map((name) => ({ name, agentId: plan.agentId ?? null }));
  const intent = await claimRemoval(ports, { names: expected });
  if (!intent.ok) return intent;
  if (!intent.value.clear)
    return no({ kind: "busy", what: `${intent.value.why}, so nothing was cleaned: the project` });
  const done = await cleanAll(ports, plan);
  const claimed = [...names, ...plan.worktrees.flatMap((judged) => judged.names.map(({ name }) => name))];
  const ended = await ports.call("worktree.recordRemovalEnd", { names: claimed, process: ports.processes.self() });
  return done.ok && !ended.ok ? ended : done;
}

/** No agent is seated while this runs. */
async function cleanAll(
  ports: WorktreePorts & { readonly effects: CleanEffects },
  plan: CleanPlan,
): Promise<Result<CleanReport, Refusal>> {
  const { worktrees, effects, call } = ports;
  const backup = await effects.backUp(refsAtRisk(plan));
  const policy = { branch: branchPolicy(plan.force), claim: "stays", branches: "later" } as const;
  const results = await atMost(worktreesAtOnce, plan.worktrees, async (judged) => {
    const one = await removeOne(ports, judged, policy);
    if (!one.ok || one.value.trash === null || !plan.emptiesTrash) return one;
    return ok({ ...one.value, trash: await effects.moveTrash(one.value.trash, backup) });
  });
  const failed = results.find((result) => !result.ok);
  if (failed !== undefined && !failed.ok) return failed;
  const gone = results.flatMap((result) => (result.ok ? [result.value] : []));
  const branches = await deleteBranches(ports, [
    ...gone.flatMap(({ leftBranch }) => leftBranch ?? []),
    ...plan.branches,
  ]);
  const areGone = new Set(branches.gone);
  const removed = gone.map((one, at) => {
    const judged = plan.worktrees[at];
    const isGone = one.leftBranch !== undefined && areGone.has(one.branch);
    return isGone && judged !== undefined ? withoutBranch(judged, one) : one;
  });
  const mail = plan.messages > 0 ? await effects.purgeMail(plan.plannedAt + 1) : ok({ purged: 0 });
  if (!mail.ok) return mail;
  for (const dir of plan.dirs) await effects.emptyDir(dir, backup);
  const rescuesDeleted = await worktrees.deleteRefs(plan.rescues);
  const archived = await call("clean.archive", {
    sessions: plan.sessions.length > 0,
    agent: plan.agent,
    runs: plan.endRuns.length > 0,
    metrics: plan.usage > 0,
    events: plan.events > 0,
    forgottenRefs: plan.rescues.map(({ ref }) => ref),
  });
  if (!archived.ok) return archived;
  return ok({
    backup,
    worktrees: removed.filter((one) => !isHurt(one)),
    keptWorktrees: [...plan.keptWorktrees, ...removed.filter(isHurt).map(keptAsDamaged)],
    branchesDeleted: branches.gone,
    problems: [...removed.filter((one) => !isHurt(one)).flatMap(({ problem }) => problem ?? []), ...branches.problems],
    messages: mail.value.purged,
    usage: archived.value.usageRows,
    events: archived.value.eventRows,
    // Removing a worktree has released its agent already.
    released: [...new Set([...plan.sessions, ...archived.value.released])],
    runs: archived.value.runs,
    dirs: plan.dirs,
    rescuesDeleted,
  });
}

function refsAtRisk(plan: CleanPlan): readonly string[] {
  const heads = plan.worktrees.flatMap(({ tip, worktree }) => (tip === undefined ? [] : [worktree.branch]));
  const branches = new Set([...heads, ...plan.branches.map(({ branch }) => branch)]);
  return [...[...branches].map((branch) => `refs/heads/${branch}`), ...plan.rescues.map(({ ref }) => ref)];
}

async function deleteBranches(
  { worktrees }: WorktreePorts,
  branches: readonly FoundBranch[],
): Promise<{ readonly gone: string[]; readonly problems: string[] }> {
  // A worktree that went before may have taken its branch along.
  const there = new Set((await worktrees.branches()).map(({ branch }) => branch));
  const unique = new Map(branches.map((found) => [found.branch, found]));
  const left = [...unique.values()].filter(({ branch }) => there.has(branch));
  const problems = await worktrees.deleteBranches(left);
  return {
    gone: left.filter((_, at) => problems[at] === null).map(({ branch }) => branch),
    problems: problems.filter((problem) => problem !== null),
  };
}

export interface RestoreReport extends BroughtBack {
  readonly name: string;
}

/** Brings back what a clean removed, as far as nothing has taken its place. */
export const restoreCleaned: Effect<{ readonly name: string }, RestoreReport> = {
  kind: "effect",
  request: fields({ name: text }),
  place: "engine",
  run: async (world, { name }) => {
    // Also where the database is gone, and with it the record of agents.
    const refused = await world.requireOperator("clean.restore");
    if (refused !== undefined) return no(refused);
    const files = await world.cleanFiles();
    const known = files.backups();
    const meant = name === "newest" ? files.newestBackup() : name;
    if (meant === null) return no(invalid("--restore", `has no backup to bring back: there is none${anew}`));
    if (!known.includes(meant)) return no(invalid("--restore", "names no backup", { value: name, allowed: known }));
    if (!files.isDatabaseRuined()) return ok({ name: meant, ...(await files.bringBack(meant)) });
    if (!files.hasCopy(meant))
      return no(invalid("--restore", `holds no copy of the database, which is damaged${anew}`, { value: meant }));
    // An engine would go on with the file that is put aside.
    await endEngine(world);
    return ok({ name: meant, ...(await files.bringBack(meant)) });
  },
};

const anew = "; to begin with an empty database: ov init --new-database";

export interface ArchiveRequest {
  /** Release every ended agent; `agent` names a single one. */
  readonly sessions?: boolean | undefined;
  readonly agent?: string | undefined;
  /** End the runs that are still open. */
  readonly runs?: boolean | undefined;
  readonly metrics?: boolean | undefined;
  readonly events?: boolean | undefined;
  /** Snapshot or rescue refs that are gone. */
  readonly forgottenRefs?: readonly string[] | undefined;
}

export interface ArchiveReply {
  readonly released: readonly string[];
  readonly runs: readonly string[];
  readonly usageRows: number;
  readonly eventRows: number;
}

/** The part of `ov clean` that happens in the database. History is never deleted: agents and runs end, and stay. */
export const archive: UseCase<ArchiveRequest, ArchiveReply> = {
  kind: "write",
  request: fields(
    {},
    { sessions: flag, agent: text, runs: flag, metrics: flag, events: flag, forgottenRefs: list(text) },
  ),
  operatorOnly: true,
  run: async (tx, context, request) => {
    const released = await releaseEnded(tx, context, request);
    const runs = request.runs === true ? await endRuns(tx, context) : [];
    const usageRows = request.metrics === true ? await tx.cleaning.wipeUsage() : 0;
    const eventRows = request.events === true ? await tx.cleaning.wipeEvents() : 0;
    await tx.snapshots.remove(request.forgottenRefs ?? []);
    const detail = { ...request, released, runs, usageRows, eventRows };
    await record(tx, context.now, { source: "operator", type: "cleaned", data: detail });
    await tx.audit.record({
      caller: context.caller.name,
      action: "clean",
      refused: false,
      detail: JSON.stringify(detail),
      now: context.now,
    });
    return ok({ released, runs, usageRows, eventRows });
  },
};

async function releaseEnded(tx: Tx, context: Context, { sessions, agent: only }: ArchiveRequest): Promise<string[]> {
  if (sessions !== true && only === undefined) return [];
  const released: string[] = [];
  for (const agent of await tx.agents.list({})) {
    if (!hasEnded(agent) || (only !== undefined && agent.name !== only)) continue;
    released.push(...(await release(tx, context, agent, "cleaned by the operator")));
  }
  return [...new Set(released)];
}

async function endRuns(tx: Tx, context: Context): Promise<string[]> {
  const ended: string[] = [];
  for (let run = await tx.runs.current(); run !== undefined; run = await tx.runs.current()) {
    await recordEnd(tx, context, run, await openEndsOf(tx, run, context.caller.name), "clean");
    ended.push(run.id);
  }
  return ended;
}
