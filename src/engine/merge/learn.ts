import type { MergeEntry } from "../../domain/merge/entry.ts";
import { fingerprintOf, resolutionOf, type Triple } from "../../domain/merge/ladder.ts";
import type { LandedMember, MergeOp } from "../../domain/merge/operation.ts";
import type { MergePorts } from "./ports.ts";
import { textOf, tripleOf } from "./resolve.ts";

/**
 * Remembers how an agent or a person settled a conflict that no rule could. A branch that was sent back with the
 * conflict has landed since, so its text in place of the conflict passed every check. A failure is reported and changes
 * nothing else: the branch has landed.
 */
export async function learn(ports: MergePorts, op: MergeOp): Promise<void> {
  await quietly(ports, async () => {
    for (const member of await sentBackBefore(ports, op.request.members ?? [])) {
      for (const { triple, fingerprint, content } of await lessonsOf(ports, op, member)) {
        const answer = resolutionOf(triple, content);
        if (answer !== undefined) await remember(ports, { fingerprint, path: triple.path, answer });
      }
    }
  });
}

/** Most branches land without ever having been sent back: one look at the queue tells for all. */
const sentBackBefore = ({ store }: MergePorts, members: readonly LandedMember[]): Promise<readonly LandedMember[]> =>
  store.read(async (tx) => {
    const found: LandedMember[] = [];
    for (const member of members) {
      const branch = (await tx.merges.get(member.id))?.branch;
      const before = branch === undefined ? [] : await tx.merges.list({ branch, statuses: ["conflict"], limit: 1 });
      if (before.length > 0) found.push(member);
    }
    return found;
  });

/** Forgets the resolutions of work that was taken back: those it taught, and those that were remembered for it. */
export async function unlearn(ports: MergePorts, undo: MergeOp): Promise<void> {
  await quietly(ports, async () => {
    const landing =
      undo.undoes === null ? undefined : await ports.store.read((tx) => tx.mergeOps.get(undo.undoes ?? ""));
    if (landing?.kind !== "land") return;
    for (const member of landing.request.members ?? []) {
      if (!undo.queueIds.includes(member.id)) continue;
      const taught = (await lessonsOf(ports, landing, member)).map(({ fingerprint }) => fingerprint);
      await markBad(ports, taught);
      const entry = await ports.store.read((tx) => tx.merges.get(member.id));
      const onto = await ports.merging.commitOf(`${member.commit}^1`);
      if (entry === undefined || onto === undefined || !usedMemory(member.strategy)) continue;
      await markBad(ports, await fingerprintsOf(ports, { ours: onto, theirs: entry.headCommit }));
    }
  });
}

/** A remembered answer that a gate refused is not used again. */
export async function distrust(
  ports: MergePorts,
  pair: { readonly ours: string; readonly theirs: string },
): Promise<void> {
  await quietly(ports, async () => markBad(ports, await fingerprintsOf(ports, pair)));
}

const usedMemory = (strategy: string | null): boolean => strategy?.split("+").includes("remembered") === true;

interface Lesson {
  readonly triple: Triple;
  readonly fingerprint: string;
  /** The file as the resolver made it. */
  readonly content: string;
}

/**
 * The conflicts for which earlier heads of the branch were sent back, each as it was when it was met and as it would
 * have been just before the landing, with the file in which it was settled: that of the branch, and that which landed.
 */
async function lessonsOf(ports: MergePorts, op: MergeOp, member: LandedMember): Promise<readonly Lesson[]> {
  const { entry, earlier, bases } = await conflictsBefore(ports, member.id);
  const before = op.beforeCommit;
  if (entry === undefined || before === null) return [];
  const lessons = new Map<string, Lesson>();
  for (const { headCommit: theirs } of earlier) {
    const met = bases.map((ours) => ({ ours, finished: entry.headCommit }));
    for (const { ours, finished } of [{ ours: before, finished: member.commit }, ...met]) {
      for (const { triple, fingerprint } of await conflictsOf(ports, { ours, theirs })) {
        const content = await fileAt(ports, finished, triple.path);
        if (content !== undefined && !lessons.has(fingerprint))
          lessons.set(fingerprint, { triple, fingerprint, content });
      }
    }
  }
  return [...lessons.values()];
}

interface Before {
  readonly entry: MergeEntry | undefined;
  readonly earlier: readonly MergeEntry[];
  /** Where the landing branch was when they were tried. */
  readonly bases: readonly string[];
}

async function conflictsBefore({ store }: MergePorts, id: number): Promise<Before> {
  return store.read(async (tx) => {
    const entry = await tx.merges.get(id);
    if (entry === undefined) return { entry, earlier: [], bases: [] };
    const { branch, targetBranch, headCommit } = entry;
    const all = await tx.merges.list({ branch, statuses: ["conflict"] });
    const earlier = all.filter(
      (one) => one.id < id && one.targetBranch === targetBranch && one.headCommit !== headCommit,
    );
    const bases = new Set<string>();
    for (const one of earlier) for (const { baseCommit } of await tx.mergeAttempts.of(one.id)) bases.add(baseCommit);
    return { entry, earlier: earlier.slice(-mostEarlier), bases: [...bases].slice(-mostEarlier) };
  });
}

/** A branch that was sent back more often has its last answers remembered only. */
const mostEarlier = 3;

type Conflicted = Pick<Lesson, "triple" | "fingerprint">;

async function conflictsOf(
  { merging, ids }: MergePorts,
  { ours, theirs }: { readonly ours: string; readonly theirs: string },
): Promise<readonly Conflicted[]> {
  const merged = await merging.merge(ours, theirs);
  if (merged.kind !== "conflicts") return [];
  const found: Conflicted[] = [];
  for (const conflict of merged.conflicts) {
    const triple = conflict.kind === "content" ? await tripleOf(merging, conflict, ours) : undefined;
    const fingerprint = triple === undefined ? undefined : fingerprintOf(triple, ids.digest);
    if (triple !== undefined && fingerprint !== undefined) found.push({ triple, fingerprint });
  }
  return found;
}

const fingerprintsOf = async (
  ports: MergePorts,
  pair: { readonly ours: string; readonly theirs: string },
): Promise<readonly string[]> => (await conflictsOf(ports, pair)).map(({ fingerprint }) => fingerprint);

async function fileAt({ merging }: MergePorts, commit: string, path: string): Promise<string | undefined> {
  const oid = await merging.blobAt(commit, path);
  return oid === undefined ? undefined : await textOf(merging, oid);
}

async function remember(
  { store, clock }: MergePorts,
  { fingerprint, path, answer }: { fingerprint: string; path: string; answer: readonly string[] },
): Promise<void> {
  const content = JSON.stringify(answer);
  await store.transaction(async (tx) => {
    // An answer that once failed does not become good by being given again.
    if ((await tx.resolutions.get(fingerprint))?.content === content) return;
    await tx.resolutions.put({ fingerprint, path, content, strategy: "landed", landedAt: clock.now(), bad: 0 });
  });
}

async function markBad({ store }: MergePorts, fingerprints: readonly string[]): Promise<void> {
  if (fingerprints.length === 0) return;
  await store.transaction(async (tx) => {
    for (const fingerprint of fingerprints) await tx.resolutions.markBad(fingerprint);
  });
}

async function quietly(ports: MergePorts, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // A remembered answer only saves work; the landing it follows from has happened and must not fail by it.
    ports.report(error);
  }
}
