import { Failure } from "../../domain/failure.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { RefChange } from "../../ports/merge-git.ts";
import { filesBrought } from "../../usecases/merge/landing/taken-out.ts";
import { blocked, rejected } from "../../usecases/merge/queue/settle-entry.ts";
import { branchRef, type MergePorts, mergeContext, problemOf, queueRef, queueRefs } from "./ports.ts";
import { takenOutOf } from "./taken-out.ts";

const heads = "refs/heads/";
const rescues = "refs/overstory/rescue/";
/** Where the refs are that pinning reads or writes. */
const pins = [queueRefs, rescues];

interface Headed {
  readonly entry: MergeEntry;
  readonly head: string;
}

/** It is taken up for the first time. */
const isFresh = ({ attempts, headCommit }: MergeEntry): boolean => attempts === 0 || headCommit === "";

/**
 * The entries that can be merged, each with its commit, which is read from the branch where it was not on record. An
 * entry without a branch is sent back.
 */
export async function findHeads(
  ports: MergePorts,
  entries: readonly MergeEntry[],
  refs: ReadonlyMap<string, string>,
): Promise<readonly Headed[]> {
  const branches = [...refs].filter(([ref]) => ref.startsWith(heads));
  const tips = new Map(branches.map(([ref, commit]) => [ref.slice(heads.length), commit]));
  const known = await existing(ports, entries.filter(isFresh), tips);
  const found: Headed[] = [];
  for (const entry of entries) {
    const { branch, headCommit } = entry;
    const announced = !isFresh(entry) || known.has(headCommit) ? headCommit : undefined;
    const head = headCommit === "" ? tips.get(branch) : announced;
    if (head === undefined) await bounce(ports, entry);
    else found.push({ entry, head });
  }
  return found;
}

/** Pins the commit of every entry that is taken up for the first time. Answers the entries whose commits are pinned. */
export async function pinHeads(
  ports: MergePorts,
  headed: readonly Headed[],
  refs: ReadonlyMap<string, string>,
): Promise<readonly MergeEntry[]> {
  const fresh = headed.filter(({ entry }) => isFresh(entry));
  const problems = await pinEach(ports, fresh, refs);
  for (const { entry } of fresh) {
    const problem = problems.get(entry.id);
    if (problem !== undefined) await blockFor(ports, entry, problem);
  }
  return learnHeads(
    ports,
    headed.filter(({ entry }) => !problems.has(entry.id)),
  );
}

/**
 * Pins all commits together where git does it, else one by one: something may be in the way of one ref only. Answers by
 * the number of the entry why its commit is not pinned.
 */
async function pinEach(
  ports: MergePorts,
  fresh: readonly Headed[],
  refs: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<number, string>> {
  const all = await pin(ports, new Map(fresh.map(({ entry, head }) => [entry.id, head])), refs);
  if (all === undefined) return new Map();
  const problems = new Map<number, string>();
  for (const { entry, head } of fresh) {
    const problem =
      fresh.length === 1 ? all : await pin(ports, new Map([[entry.id, head]]), await readRefs(ports, pins));
    if (problem !== undefined) problems.set(entry.id, problem);
  }
  return problems;
}

/** Finds and pins the commits of entries that are not taken up yet. */
export async function knowHeads(ports: MergePorts, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  if (entries.length === 0) return [];
  const refs = await readHeads(ports);
  return pinHeads(ports, await findHeads(ports, entries, refs), refs);
}

/** All of them through one process: a queue may hold a hundred branches. */
async function readRefs({ merging }: MergePorts, prefixes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map((await merging.refsBelow(...prefixes)).map(({ ref, commit }) => [ref, commit]));
}

/** Commits that were announced and exist; most are the tip of their branch. */
async function existing(
  { merging }: MergePorts,
  entries: readonly MergeEntry[],
  tips: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  const atTips = new Set(tips.values());
  const known = new Set<string>();
  for (const { headCommit } of entries) {
    if (headCommit === "") continue;
    if (atTips.has(headCommit) || (await merging.commitOf(headCommit)) === headCommit) known.add(headCommit);
  }
  return known;
}

/** Answers what keeps the commits from being pinned. `refs` are the pins as they were a moment ago. */
async function pin(
  ports: MergePorts,
  found: ReadonlyMap<number, string>,
  refs: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const { merging } = ports;
  let problem: string | undefined;
  for (let tries = 0; tries < mostTries; tries++) {
    const there = tries === 0 ? refs : await readRefs(ports, pins);
    const changes = [...found].flatMap(([id, commit]) => pinning(there, id, commit));
    if (changes.length === 0) return undefined;
    try {
      const pinned = await merging.updateRefs(changes, "overstory: queued");
      if (pinned.kind === "updated") return undefined;
      problem = pinned.problem;
      if (pinned.kind === "locked") break;
    } catch (error) {
      if (error instanceof Failure && error.data.kind === "disk-full") throw error;
      problem = problemOf(error);
      break;
    }
  }
  return problem;
}

/** The merge is tried again, because a lock is released some time. The operator is told which lock is in the way. */
async function blockFor(ports: MergePorts, entry: MergeEntry, problem: string): Promise<void> {
  const context = mergeContext(ports);
  const message = `its commit could not be kept by a ref: ${problem}`;
  const block = { cause: "git_error", detail: { message }, notBefore: context.now + retryLockedMs } as const;
  await ports.store.transaction((tx) => blocked(tx, context, entry, block));
}

const retryLockedMs = 30_000;

/** Another process may pin at the same time. */
const mostTries = 3;

/** An entry never changes its head: another one under its number is of a queue that was thrown away, and is kept. */
function pinning(there: ReadonlyMap<string, string>, id: number, to: string): readonly RefChange[] {
  const ref = queueRef(id);
  const from = there.get(ref) ?? null;
  if (from === to) return [];
  const rescue = `${rescues}queue-${id}-${from}`;
  const isKept = from === null || there.has(rescue);
  return [{ ref, from, to }, ...(isKept ? [] : [{ ref: rescue, from: null, to: from }])];
}

/**
 * Puts the commits on record that were read from branches, and the files of entries that came without a list of files.
 */
async function learnHeads(ports: MergePorts, kept: readonly Headed[]): Promise<readonly MergeEntry[]> {
  const news = kept.filter((one) => !isKnown(one));
  const files = await filesOf(
    ports,
    news.filter(({ entry }) => entry.filesModified.length === 0),
  );
  const updatedAt = ports.clock.now();
  const changes = new Map(
    news.map(({ entry: { id, filesModified }, head }) => {
      return [id, { headCommit: head, filesModified: files.get(id) ?? filesModified, updatedAt }];
    }),
  );
  if (changes.size > 0) {
    await ports.store.transaction(async (tx) => {
      for (const [id, change] of changes) await tx.merges.change(id, ["pending", "blocked"], change);
    });
  }
  return kept.map(({ entry }) => ({ ...entry, ...changes.get(entry.id) }));
}

/** The mail that announced the head may have named no files. */
const isKnown = ({ entry: { attempts, headCommit, filesModified }, head }: Headed): boolean =>
  head === headCommit && (attempts > 0 || filesModified.length > 0);

/** The files that each branch brings, by the number of its entry. Where a target is gone, the train says so. */
async function filesOf(ports: MergePorts, all: readonly Headed[]): Promise<ReadonlyMap<number, readonly string[]>> {
  const { merging } = ports;
  const files = new Map<number, readonly string[]>();
  for (const target of new Set(all.map(({ entry }) => entry.targetBranch))) {
    const onto = await merging.commitOf(branchRef(target));
    if (onto === undefined) continue;
    const others: Headed[] = [];
    for (const one of all.filter(({ entry }) => entry.targetBranch === target)) {
      const { entry, head } = one;
      const out = await takenOutOf(ports, entry.branch, onto);
      if (out.length === 0) others.push(one);
      else files.set(entry.id, await filesBrought(merging, { onto, head, out }));
    }
    const lists = await merging.changedFilesOfEach(
      onto,
      others.map(({ head }) => head),
    );
    for (const [at, { entry }] of others.entries()) files.set(entry.id, lists[at] ?? []);
  }
  return files;
}

async function bounce(ports: MergePorts, entry: MergeEntry): Promise<void> {
  const message =
    entry.headCommit === "" ? `there is no branch ${entry.branch}` : `${entry.headCommit} is no commit of this project`;
  await ports.store.transaction((tx) =>
    rejected(tx, mergeContext(ports), entry, { status: "failed", cause: "missing_ref", detail: { message } }),
  );
}

/** Every branch, and every ref that pinning reads or writes. */
export const readHeads = (ports: MergePorts): Promise<ReadonlyMap<string, string>> => readRefs(ports, [heads, ...pins]);
