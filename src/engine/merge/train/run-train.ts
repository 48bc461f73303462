import { lastingProblem } from "../../../domain/failure.ts";
import type { AttemptOutcome } from "../../../domain/merge/attempt.ts";
import type { MergeCause, MergeEntry, Verdict } from "../../../domain/merge/entry.ts";
import { steeringGaps } from "../../../domain/merge/steering.ts";
import { retargetCommand } from "../../../domain/run/run.ts";
import { blocked, landed, rejected } from "../../../usecases/merge/queue/settle-entry.ts";
import { type Checks, openChecks } from "../checks.ts";
import { askInWork } from "../claims.ts";
import { isInWork, land } from "../land.ts";
import { foreignTip, tipOf } from "../landing-tip.ts";
import { distrust } from "../learn.ts";
import { mergeOne } from "../merge-one.ts";
import { branchRef, type MergePorts, mergeContext, problemOf } from "../ports.ts";
import { droppedBehind, landableHead } from "../rewritten-target.ts";
import type { Slots } from "../slots.ts";
import { rejectUnreadable } from "../unreadable-branches.ts";
import { type FirstLook, laterLook } from "./later-look.ts";
import type { EntryOutcome, Landing, TrainProgress, TrainSteps } from "./steps.ts";
import { runTrain } from "./train.ts";

/** What could not land because of something outside is tried again after this time, and then after twice as long. */
const retryBlockedMs = 30_000;

/** The same for what failed for reasons of our own. */
const retryBrokenMs = 5_000;

/** Every try is a row, and may be a run of the gates; what lasts for days must not make thousands. */
const longestRestMs = 15 * 60_000;

const restOf = ({ attempts }: MergeEntry, firstMs: number): number =>
  Math.min(longestRestMs, firstMs * 2 ** Math.min(Math.max(attempts - 1, 0), 20));

const takenOut = { message: "it was taken out of the queue" };

export interface TrainJob extends FirstLook {
  readonly target: string;
  /** Claimed, in the order in which they should land. */
  readonly entries: readonly MergeEntry[];
  readonly slots: Slots;
  readonly stop: AbortSignal;
  /** Called when it is on record what became of an entry. Others of the train may take long. */
  readonly onSettled: () => void;
}

/**
 * Brings entries of one target in, and records of each what became of it as soon as that is known. Rejects when it broke
 * off for reasons of our own.
 */
export async function runTrainOf(ports: MergePorts, job: TrainJob): Promise<void> {
  const { target, entries, stop } = job;
  const id = ports.ids.next("train");
  try {
    const tip = await tipOf(ports, target);
    if (tip === undefined) {
      for (const [runId, ofRun] of Map.groupBy(entries, (entry) => entry.runId)) {
        const message = `there is no branch ${target} to land on; when it was renamed: ${retargetCommand(runId)}`;
        await blockAll(ports, ofRun, { cause: "missing_ref", message });
      }
      return;
    }
    const foreign = await foreignTip(ports, target, tip);
    if (foreign !== undefined) return await blockAll(ports, entries, { cause: "foreign_tip", message: foreign });
    const attempt = await beginAttempt(ports, { id, entries, baseCommit: tip });
    await run(ports, job, attempt);
  } catch (error) {
    if (stop.aborted) return await giveUp(ports, id, entries, { firstRestMs: 0 });
    if (await explain(ports, { id, target, entries }, error)) return;
    await giveUp(ports, id, entries, { firstRestMs: retryBrokenMs, error });
    throw error;
  }
}

type Train = Pick<TrainJob, "target" | "entries"> & { readonly id: string };

/**
 * Looks for entries, or a setting of the repository, that made a train break off, and records what becomes of its
 * entries. False when nothing was found. Git may be what broke, and breaks this look too: the first error says why then.
 */
async function explain(ports: MergePorts, train: Train, error: unknown): Promise<boolean> {
  const { id, target, entries } = train;
  try {
    const unreadable = await rejectUnreadable(ports, entries);
    const readable = entries.filter(({ id: number }) => !unreadable.has(number));
    if ((await rejectUnusable(ports, target, readable)) || unreadable.size > 0) {
      await giveUp(ports, id, entries, { firstRestMs: 0 });
      return true;
    }
    const lasting = lastingProblem(error);
    if (lasting !== undefined) await block(ports, train, lasting);
    return lasting !== undefined;
  } catch (second) {
    ports.report(second);
    return false;
  }
}

interface Attempt {
  readonly id: string;
  readonly baseCommit: string;
  readonly logDir: string;
}

async function run(
  ports: MergePorts,
  { target, entries, concerns, lookedOn, slots, stop, onSettled }: TrainJob,
  attempt: Attempt,
): Promise<void> {
  const { merging, rules } = ports;
  const checks = openChecks(ports, { slots, logDir: attempt.logDir, stop, work: entries });
  const base = { commit: attempt.baseCommit, tree: await merging.treeOf(attempt.baseCommit) };
  const trees = new Map([[base.commit, base.tree]]);
  /** The entries that each commit of this attempt holds, and the trees that hold each entry. */
  const held = new Map<string, readonly number[]>();
  const treesWith = new Map<number, Set<string>>(entries.map(({ id }) => [id, new Set()]));
  const steered = ({ members }: Landing<MergeEntry>): readonly string[] =>
    members.flatMap(({ entry }) => steeringGaps(concerns.get(entry.id)?.touched ?? []));
  const dropped = await droppedBehind(ports, target);
  const lookAgain = laterLook(ports, { lookedOn, concerns, entries });
  const steps: TrainSteps<MergeEntry> = {
    merge: async (onto, entry, mayAsk) => {
      const now = await ports.store.read((tx) => tx.merges.get(entry.id));
      if (!isInWork(now)) return { kind: "stopped", cause: "approval_denied", detail: takenOut };
      const own = await landableHead(ports, { onto, entry, dropped });
      if ("problem" in own) return { kind: "stopped", cause: "conflict", detail: { message: own.problem } };
      const tree = trees.get(onto) ?? (await merging.treeOf(onto));
      const answer = await mergeOne(ports, {
        onto: { commit: onto, tree },
        entry: { ...entry, headCommit: own.head },
        slots,
        stop,
        mayAsk,
      });
      if (answer.kind === "merged") {
        const doubt = await lookAgain({ onto, entry, answer });
        if (doubt !== undefined && !mayAsk) return { kind: "later" };
        if (doubt !== undefined && (await askInWork(ports, entry, doubt))) return { kind: "waiting" };
        trees.set(answer.commit, answer.tree);
        const ids = [...(held.get(onto) ?? []), entry.id];
        held.set(answer.commit, ids);
        for (const id of ids) treesWith.get(id)?.add(answer.tree);
      }
      return answer;
    },
    check: (commit, tree, request) => checks.check(commit, tree, request),
    land: async (landing) => {
      // A tree that was on the branch already was not asked about again.
      if (!landing.checked) await checks.recall(landing.to.tree);
      const others = [...steered(landing), ...(await hooksLeftOut(ports))];
      return land(ports, { target, landing, ...evidenceFor(checks, landing, others) });
    },
    onProgress: async (progress) => {
      await record(ports, checks, progress);
      if (progress.kind === "settled") onSettled();
    },
  };
  const { maxRebases, parallelGates, baselineFailing } = rules.merge;
  // Short trains keep the search for a culprit short, and without gates there is none.
  const batchSize = rules.project.qualityGates.length === 0 ? ungatedBatch : rules.merge.batchSize;
  const request = { base, entries, batchSize, maxRebases, parallelGates, baselineFailing };
  const report = await runTrain(steps, request);
  const kinds = new Set(report.outcomes.map(({ outcome }) => outcome.kind));
  const outcome = kinds.has("landed") ? "landed" : kinds.has("blocked") ? "blocked" : "failed";
  const members = report.outcomes.map(({ entry, outcome: own }) => ({
    id: entry.id,
    outcome: memberOutcomes[own.kind],
    // They tell what a gate result was about.
    trees: checks.all().length === 0 ? [] : [...(treesWith.get(entry.id) ?? [])],
  }));
  const change = { outcome, candidateCommit: report.tip.commit, gateResults: checks.all(), members } as const;
  await ports.store.transaction((tx) =>
    tx.mergeAttempts.change(attempt.id, { ...change, finishedAt: ports.clock.now() }),
  );
}

/** All of them are recorded in one transaction, for which others wait. */
const ungatedBatch = 64;

/** What an attempt was for an entry, by what became of the entry. */
const memberOutcomes = {
  landed: "landed",
  rejected: "failed",
  stopped: "failed",
  blocked: "blocked",
  waiting: "blocked",
} as const satisfies Record<EntryOutcome["kind"], AttemptOutcome>;

async function beginAttempt(
  ports: MergePorts,
  {
    id,
    entries,
    baseCommit,
  }: { readonly id: string; readonly entries: readonly MergeEntry[]; readonly baseCommit: string },
): Promise<Attempt> {
  const logDir = ports.mergeLogDir(id);
  await ports.store.transaction((tx) =>
    tx.mergeAttempts.insert({
      id,
      trainId: id,
      queueIds: entries.map((entry) => entry.id),
      baseCommit,
      candidateCommit: null,
      outcome: null,
      gateResults: [],
      members: [],
      startedAt: ports.clock.now(),
      finishedAt: null,
      logDir,
    }),
  );
  ports.reach("merge.claimed");
  return { id, baseCommit, logDir };
}

/** Sends entries back whose files no checkout can hold: they would keep all others from being checked. True when there were any. */
async function rejectUnusable(ports: MergePorts, target: string, entries: readonly MergeEntry[]): Promise<boolean> {
  const tip = await tipOf(ports, target);
  if (tip === undefined) return false;
  let found = false;
  for (const entry of entries) {
    const files = await ports.merging.unusableNames(tip, entry.headCommit);
    if (files.length === 0) continue;
    found = true;
    const message = `no checkout can hold its files: ${JSON.stringify(files[0]?.slice(0, 80))} is no name that git or the file system takes; rename the file`;
    const outcome = { status: "failed", cause: "git_error", detail: { message, files } } as const;
    await ports.store.transaction((tx) => rejected(tx, mergeContext(ports), entry, outcome));
  }
  return found;
}

interface Broken {
  readonly firstRestMs: number;
  /** Shown with the entries, until they are tried again. */
  readonly error?: unknown;
}

/** A train that is asked to end, or cannot go on, leaves the entries as they were found. */
async function giveUp(
  ports: MergePorts,
  attemptId: string,
  entries: readonly MergeEntry[],
  { firstRestMs, error }: Broken,
): Promise<void> {
  const now = ports.clock.now();
  const message = problemOf(error);
  const why = error === undefined ? {} : ({ cause: "git_error", causeDetail: { message } } as const);
  await ports.store.transaction(async (tx) => {
    await tx.mergeAttempts.change(attemptId, { outcome: "blocked", finishedAt: now });
    for (const entry of entries) {
      const notBefore = now + restOf(entry, firstRestMs);
      await tx.merges.change(entry.id, ["merging", "gating"], { status: "pending", notBefore, ...why, updatedAt: now });
    }
  });
}

/** A hook of the repository that is not confirmed is not run, and that is said. */
async function hooksLeftOut({ merging, rules }: MergePorts): Promise<readonly string[]> {
  if (!rules.merge.runGitHooks) return [];
  const { unconfirmed } = await merging.hooks();
  return unconfirmed.map((name) => `the hook ${name} is not confirmed and was not asked (ov trust add hook:${name})`);
}

function evidenceFor(
  checks: Checks,
  landing: Landing<MergeEntry>,
  others: readonly string[],
): { verdict: Verdict; gaps: readonly string[]; results: readonly string[] } {
  const { verdict, gaps, results } = checks.verdictOf(landing.to.tree);
  const more = [...new Set([...gaps, ...landing.gaps, ...others])];
  return { verdict: verdict === "verified" && more.length > 0 ? "verified_with_gaps" : verdict, gaps: more, results };
}

async function record(ports: MergePorts, checks: Checks, progress: TrainProgress<MergeEntry>): Promise<void> {
  switch (progress.kind) {
    case "assembled":
      return markGating(ports, progress.members);
    case "settled": {
      const { entry, outcome } = progress;
      // A landing is stored together with the move of the branch. Only entries that the branch held before are stored
      // here.
      if (outcome.kind === "landed")
        return outcome.landing === null ? recordHeld(ports, checks, entry, outcome) : undefined;
      return recordOutcome(ports, entry, outcome);
    }
    default:
  }
}

async function markGating(ports: MergePorts, entries: readonly MergeEntry[]): Promise<void> {
  const updatedAt = ports.clock.now();
  await ports.store.transaction(async (tx) => {
    for (const { id } of entries) await tx.merges.change(id, ["merging"], { status: "gating", updatedAt });
  });
}

/** The landing branch had the whole entry already, so the verdict about its tip is the verdict about the entry. */
async function recordHeld(
  ports: MergePorts,
  checks: Checks,
  entry: MergeEntry,
  { tree, tier, strategy, commit }: Extract<EntryOutcome, { kind: "landed" }>,
): Promise<void> {
  await checks.recall(tree);
  const { verdict } = checks.verdictOf(tree);
  await ports.store.transaction((tx) =>
    landed(tx, mergeContext(ports), { opId: null, entries: [{ entry, tier, strategy, commit, verdict }] }),
  );
}

async function recordOutcome(ports: MergePorts, entry: MergeEntry, outcome: EntryOutcome): Promise<void> {
  const context = mergeContext(ports);
  if (outcome.kind === "rejected") await distrust(ports, { ours: outcome.onto.commit, theirs: entry.headCommit });
  await ports.store.transaction(async (tx) => {
    switch (outcome.kind) {
      // Recorded with the move of the branch, or by `recordHeld`.
      case "landed":
        return;
      case "rejected":
        await rejected(tx, context, entry, { status: "failed", cause: outcome.cause, detail: outcome.detail });
        return;
      case "stopped": {
        const status = outcome.cause === "conflict" ? "conflict" : "failed";
        await rejected(tx, context, entry, { status, cause: outcome.cause, detail: outcome.detail });
        return;
      }
      case "blocked":
        await blocked(tx, context, entry, { ...outcome, notBefore: context.now + restOf(entry, retryBlockedMs) });
        return;
      case "waiting":
        await tx.merges.change(entry.id, ["merging", "gating"], { status: "pending", updatedAt: context.now });
    }
  });
}

/**
 * What a person has to mend in the repository is told to the operator, and tried again later and later. Where only a
 * branch needs a filter that may not run, that branch goes back, and the others are tried without it.
 */
async function block(ports: MergePorts, { id, target, entries }: Train, message: string): Promise<void> {
  const finishedAt = ports.clock.now();
  await ports.store.transaction((tx) => tx.mergeAttempts.change(id, { outcome: "blocked", finishedAt }));
  const { merging } = ports;
  const isBase = (await merging.filterProblem(branchRef(target))) !== undefined;
  const problems = await Promise.all(entries.map(({ headCommit }) => merging.filterProblem(headCommit)));
  if (isBase || problems.every((problem) => problem === undefined)) {
    return await blockAll(ports, entries, { cause: "git_error", message });
  }
  for (const [at, entry] of entries.entries()) {
    const problem = problems[at];
    const detail = { message: problem ?? message };
    await recordOutcome(
      ports,
      entry,
      problem === undefined ? { kind: "waiting", on: [] } : { kind: "stopped", cause: "git_error", detail },
    );
  }
}

async function blockAll(
  ports: MergePorts,
  entries: readonly MergeEntry[],
  { cause, message }: { readonly cause: MergeCause; readonly message: string },
): Promise<void> {
  for (const entry of entries) await recordOutcome(ports, entry, { kind: "blocked", cause, detail: { message } });
}
