import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { RefChange } from "../../ports/merge-git.ts";
import { filesBrought } from "../../usecases/merge/landing/taken-out.ts";
import { blocked, rejected } from "../../usecases/merge/queue/settle-entry.ts";
import { branchRef, type MergePorts, mergeContext, queueRef } from "./ports.ts";
import { takenOutOf } from "./taken-out.ts";

const heads = "refs/heads/";

/**
 * Pins the commit of every entry that is taken up for the first time, reading it from the branch where nobody knew it;
 * what has no branch is sent back. Answers the entries that can be merged.
 */
export async function pinHeads(ports: MergePorts, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  const fresh = entries.filter(({ attempts, headCommit }) => attempts === 0 || headCommit === "");
  if (fresh.length === 0) return entries;
  const tips = await tipsOf(ports);
  const known = await existing(ports, fresh, tips);
  const found = new Map<number, string>();
  for (const { id, branch, headCommit } of fresh) {
    const head = headCommit === "" ? tips.get(branch) : known.has(headCommit) ? headCommit : undefined;
    if (head !== undefined) found.set(id, head);
  }
  const locked = await pin(ports, found);
  if (locked !== undefined) {
    await blockFor(ports, fresh, locked);
    return entries.filter((entry) => !fresh.includes(entry));
  }
  const kept: Headed[] = [];
  for (const entry of entries) {
    const head = fresh.includes(entry) ? found.get(entry.id) : entry.headCommit;
    if (head === undefined) await bounce(ports, entry);
    else kept.push({ entry, head });
  }
  return learnHeads(ports, kept);
}

interface Headed {
  readonly entry: MergeEntry;
  readonly head: string;
}

/** All branches through one process: a queue may hold a hundred. */
async function tipsOf({ merging }: MergePorts): Promise<ReadonlyMap<string, string>> {
  const refs = await merging.refsBelow(heads);
  return new Map(refs.map(({ ref, commit }) => [ref.slice(heads.length), commit]));
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

/** Answers which lock of git keeps the commits from being pinned. */
async function pin({ merging }: MergePorts, found: ReadonlyMap<number, string>): Promise<string | undefined> {
  let problem: string | undefined;
  for (let tries = 0; tries < mostTries; tries++) {
    const there = new Map((await merging.refsBelow("refs/overstory/")).map(({ ref, commit }) => [ref, commit]));
    const changes = [...found].flatMap(([id, commit]) => pinning(there, id, commit));
    if (changes.length === 0) return undefined;
    const pinned = await merging.updateRefs(changes, "overstory: queued");
    if (pinned.kind === "updated") return undefined;
    if (pinned.kind === "locked") return pinned.problem;
    problem = pinned.problem;
  }
  throw new Error(`queued commits could not be pinned: ${problem}`);
}

/** They are tried again: whoever holds the lock lets go of it some time. */
async function blockFor(ports: MergePorts, entries: readonly MergeEntry[], message: string): Promise<void> {
  const context = mergeContext(ports);
  const block = { cause: "git_error", detail: { message }, notBefore: context.now + retryLockedMs } as const;
  await ports.store.transaction(async (tx) => {
    for (const entry of entries) await blocked(tx, context, entry, block);
  });
}

const retryLockedMs = 30_000;

/** Somebody else may pin at the same time. */
const mostTries = 3;

/** An entry never changes its head: another one under its number is of a queue that was thrown away, and is kept. */
function pinning(there: ReadonlyMap<string, string>, id: number, to: string): readonly RefChange[] {
  const ref = queueRef(id);
  const from = there.get(ref) ?? null;
  if (from === to) return [];
  const rescue = `refs/overstory/rescue/queue-${id}-${from}`;
  const isKept = from === null || there.has(rescue);
  return [{ ref, from, to }, ...(isKept ? [] : [{ ref: rescue, from: null, to: from }])];
}

/** Puts the commits on record that were read from branches, and the files of those for which nobody named any. */
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
