import { hasEnded } from "../../domain/agent/agent.ts";
import { takenOutWords } from "../../domain/merge/taken-out.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, list, oneOf, text } from "../../domain/schema/schema.ts";
import { type CleanTarget, cleanTargets, targetDirs } from "../../domain/worktree/classify.ts";
import type { CleanDir, CleanFiles } from "../../ports/clean-files.ts";
import type { FoundBranch, Rescue } from "../../ports/worktrees.ts";
import type { Effect } from "../operation.ts";
import type { OpenRun } from "../runs/open-ends.ts";
import {
  asKept,
  type BranchPolicy,
  dropsBranch,
  type KeptWorktree,
  type Removal,
  removalOf,
} from "./clean-worktrees.ts";
import type { OwnersReply } from "./owners.ts";
import type { WorktreePorts } from "./survey.ts";
import { type Judged, judgeAll, landedAll, survey, worktreePorts } from "./survey.ts";

export interface CleanRequest {
  readonly targets: readonly CleanTarget[];
  /** Only what belongs to this agent. */
  readonly agent?: string | undefined;
  /** Also branches that landed nowhere. */
  readonly force: boolean;
  readonly endRuns: boolean;
  /** The plan is only shown: live agents do not forbid it, and their worktrees and branches are left out. */
  readonly dryRun?: boolean | undefined;
}

/** A branch that stays; `next` is what to type about it. */
export interface KeptBranch {
  readonly branch: string;
  readonly reason: string;
  readonly next: string;
}

/** Everything that would be done, before anything is. */
export interface CleanPlan {
  readonly agent: string | undefined;
  /** The incarnation that was looked at. */
  readonly agentId: string | undefined;
  readonly plannedAt: number;
  /** Agents it concerns that have to be stopped first; none in a plan that may be carried out. */
  readonly live: readonly string[];
  readonly worktrees: readonly Removal[];
  /** Those that git cannot read stay, and those of live agents. */
  readonly keptWorktrees: readonly KeptWorktree[];
  /** Every branch that is deleted, those of the worktrees that go among them. */
  readonly branches: readonly FoundBranch[];
  readonly keptBranches: readonly KeptBranch[];
  readonly messages: number;
  readonly usage: number;
  readonly events: number;
  /** Agents that have ended but are not released. */
  readonly sessions: readonly string[];
  /** Active runs that end with it. */
  readonly endRuns: readonly OpenRun[];
  readonly dirs: readonly CleanDir[];
  readonly rescues: readonly Rescue[];
  /** Ignored files of the worktrees it removes go to the backup instead of the trash. */
  readonly emptiesTrash: boolean;
  readonly force: boolean;
}

/** What `ov clean` would do; touches nothing. */
export const planCleaning: Effect<CleanRequest & { readonly dryRun: boolean }, CleanPlan> = {
  kind: "effect",
  request: fields({ targets: list(oneOf(cleanTargets)), force: flag, endRuns: flag, dryRun: flag }, { agent: text }),
  place: "engine",
  run: async (world, request) =>
    planClean({ ...(await worktreePorts(world)), dirs: await world.cleanFiles() }, request),
};

/** Works out what `ov clean` would do; refused while an agent it concerns is live, unless it is only to be shown. */
export async function planClean(
  ports: WorktreePorts & { readonly dirs: Pick<CleanFiles, "count"> },
  request: CleanRequest,
): Promise<Result<CleanPlan, Refusal>> {
  const read = await ports.call("worktree.listOwnersForCleaning", {});
  if (!read.ok) return read;
  const facts = read.value;
  const unknown = request.agent === undefined ? undefined : unknownAgent(facts, request.agent);
  if (unknown !== undefined) return no(unknown);
  const live = request.agent === undefined ? facts.live : facts.live.filter((name) => name === request.agent);
  if (live.length > 0 && request.dryRun !== true) return no({ kind: "agents-live", names: live });

  const runs = request.endRuns ? await ports.call("clean.listOpenRuns", {}) : ok({ runs: [] });
  if (!runs.ok) return runs;

  const wants = (target: CleanTarget): boolean => request.targets.includes(target);
  const judged = wants("worktrees") ? await judgeOf(ports, facts, request.agent) : [];
  const worktrees = judged.filter(({ verdict }) => verdict.class !== "damaged" && verdict.class !== "running");
  const kept = judged.filter((one) => !worktrees.includes(one));
  const ofWorktrees = branchesOfWorktrees(worktrees, request);
  const branches = wants("branches") ? await judgeBranches(ports, facts, { request, worktrees, ofWorktrees }) : none;
  const dirs = await fullDirs(ports.dirs, request);
  const whole = request.agent === undefined;
  return ok({
    agent: request.agent,
    agentId: facts.owners.find(({ agent }) => agent.name === request.agent)?.agent.id,
    plannedAt: facts.readAt,
    worktrees: worktrees.map(removalOf),
    live,
    keptWorktrees: kept.map(asKept),
    branches: [...ofWorktrees, ...branches.go],
    keptBranches: branches.stay,
    messages: whole && wants("mail") ? facts.counts.messages : 0,
    usage: whole && wants("metrics") ? facts.counts.usage : 0,
    events: whole && wants("events") ? facts.counts.events : 0,
    sessions: wants("sessions") ? unreleased(facts, request.agent) : [],
    endRuns: runs.value.runs,
    dirs,
    rescues: wants("rescue") ? await rescuesOf(ports, request.agent) : [],
    emptiesTrash: whole && wants("trash"),
    force: request.force,
  });
}

/** Nothing would be done. */
export const isEmptyPlan = (plan: CleanPlan): boolean =>
  plan.worktrees.length === 0 &&
  plan.branches.length === 0 &&
  plan.messages === 0 &&
  plan.usage === 0 &&
  plan.events === 0 &&
  plan.sessions.length === 0 &&
  plan.dirs.length === 0 &&
  plan.rescues.length === 0 &&
  plan.endRuns.length === 0;

function unknownAgent({ owners }: OwnersReply, name: string): Refusal | undefined {
  const names = owners.map(({ agent }) => agent.name);
  return names.includes(name) ? undefined : notFound("agent", name, nearest(name, names));
}

async function judgeOf(
  ports: WorktreePorts,
  facts: OwnersReply,
  agent: string | undefined,
): Promise<readonly Judged[]> {
  const found = await survey(ports.worktrees, facts);
  const own = found.filter(({ worktree }) => agent === undefined || worktree.agentName === agent);
  return judgeAll(ports.worktrees, own, facts.canonicalBranch);
}

const none = { go: [], stay: [] } as const;

/** The branches that go with their worktrees, also when no branches were asked for. */
const branchesOfWorktrees = (going: readonly Judged[], { force }: CleanRequest): readonly FoundBranch[] =>
  going.flatMap((judged) => {
    const { tip, worktree } = judged;
    return tip !== undefined && dropsBranch(judged, branchPolicy(force)) ? [{ branch: worktree.branch, tip }] : [];
  });

export const branchPolicy = (force: boolean): BranchPolicy => (force ? "always" : "when-landed");

/** A branch goes when it has landed, or by force; never while a worktree that stays works on it. */
async function judgeBranches(
  { worktrees }: WorktreePorts,
  facts: OwnersReply,
  {
    request,
    worktrees: going,
    ofWorktrees,
  }: {
    readonly request: CleanRequest;
    readonly worktrees: readonly Judged[];
    readonly ofWorktrees: readonly FoundBranch[];
  },
): Promise<{ readonly go: FoundBranch[]; readonly stay: KeptBranch[] }> {
  const sorted: { go: FoundBranch[]; stay: KeptBranch[] } = { go: [], stay: [] };
  const goes = new Set(going.map(({ worktree }) => worktree.branch));
  const goesAnyway = new Set(ofWorktrees.map(({ branch }) => branch));
  const present = await survey(worktrees, facts);
  const inUse = new Set(present.filter(({ exists }) => exists).map(({ worktree }) => worktree.branch));
  const ownerOf = new Map(facts.owners.map((owner) => [owner.agent.branch, owner]));
  const open: FoundBranch[] = [];
  for (const found of await worktrees.branches()) {
    const { branch } = found;
    if ((request.agent !== undefined && branch.split("/")[1] !== request.agent) || goesAnyway.has(branch)) continue;
    const owner = ownerOf.get(branch)?.agent;
    if (owner !== undefined && !hasEnded(owner)) {
      sorted.stay.push({ branch, reason: `${owner.name} is live`, next: `ov stop ${owner.name}` });
    } else if (inUse.has(branch) && !goes.has(branch)) {
      sorted.stay.push({ branch, reason: "its worktree is still there", next: "--worktrees removes that" });
    } else open.push(found);
  }
  const questions = open.map(({ branch, tip }) => {
    const owner = ownerOf.get(branch);
    const targets = owner?.targets ?? [facts.canonicalBranch];
    return { commits: [tip], base: owner?.agent.baseCommit ?? null, targets, words: facts.takenOut[branch] ?? [] };
  });
  // Those of the worktrees that go have been asked about with them.
  const known = new Map(
    going.filter(({ head, tip }) => head === tip).map(({ worktree, landed }) => [worktree.branch, landed]),
  );
  const unknown = open.filter(({ branch }) => !known.has(branch));
  const answers = request.force
    ? []
    : await landedAll(
        worktrees,
        questions.filter((_, at) => !known.has(open[at]?.branch ?? "")),
      );
  const isLanded = new Map([...known, ...unknown.map(({ branch }, at) => [branch, answers[at] ?? false] as const)]);
  for (const found of open) {
    const { branch } = found;
    if (request.force || isLanded.get(branch) === true) {
      sorted.go.push(found);
      continue;
    }
    const out = takenOutWords(facts.takenOut[branch] ?? []);
    if (out === undefined)
      sorted.stay.push({ branch, reason: "its commits landed nowhere", next: "--force removes it" });
    else sorted.stay.push({ branch, reason: out, next: `to bring it back: ov merge --branch ${branch}` });
  }
  return sorted;
}

function unreleased({ owners }: OwnersReply, only: string | undefined): string[] {
  return owners
    .filter(({ agent }) => agent.releasedAt === null && hasEnded(agent) && (only === undefined || agent.name === only))
    .map(({ agent }) => agent.name);
}

async function fullDirs(dirs: Pick<CleanFiles, "count">, { targets, agent }: CleanRequest): Promise<CleanDir[]> {
  const found: CleanDir[] = [];
  for (const target of targets) {
    const known = targetDirs[target];
    if (known === undefined || (agent !== undefined && target !== "logs" && target !== "agents")) continue;
    const dir = agent === undefined ? known.dir : `${known.dir}/${agent}`;
    const entries = await dirs.count(dir);
    if (entries > 0) found.push({ target, dir, entries, backUp: known.backUp });
  }
  return found;
}

async function rescuesOf({ worktrees }: WorktreePorts, agent: string | undefined): Promise<readonly Rescue[]> {
  const all = await worktrees.rescues();
  if (agent === undefined) return all;
  const own = new RegExp(`^refs/overstory/rescue/${agent.replaceAll(".", "\\.")}-\\d+(-\\d+)?$`);
  return all.filter(({ ref }) => own.test(ref));
}
