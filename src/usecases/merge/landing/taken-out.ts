import type { MergeOp } from "../../../domain/merge/operation.ts";
import { type TakenOut, takenOut, type WordAboutBranch } from "../../../domain/merge/taken-out.ts";
import { ok } from "../../../domain/result.ts";
import { fields, list, orNull, text } from "../../../domain/schema/schema.ts";
import type { MergeGit } from "../../../ports/merge-git.ts";
import type { Tx } from "../../../ports/store.ts";
import type { UseCase } from "../../usecase.ts";
import { targetOf } from "./landing-target.ts";

/** What the record says about the work of a branch, the newest first. Empty when nothing of it was ever taken out. */
export const wordsAbout = async (tx: Tx, branch: string): Promise<readonly WordAboutBranch[]> =>
  (await wordsAboutAll(tx, { branch })).get(branch) ?? [];

/** The same for every branch of which something was taken out. */
export async function wordsAboutAll(
  tx: Tx,
  of: { readonly branch?: string } = {},
): Promise<ReadonlyMap<string, readonly WordAboutBranch[]>> {
  const undos = await tx.mergeOps.list({ kind: "undo", status: "done" });
  if (undos.length === 0) return new Map();
  const undone = new Set(undos.flatMap(({ queueIds }) => queueIds));
  const entries = await tx.merges.list({ ...of, statuses: ["merged", "reverted"] });
  const branchOf = new Map(entries.map(({ id, branch }) => [id, branch]));
  const affected = new Set(entries.filter(({ id }) => undone.has(id)).map(({ branch }) => branch));
  if (affected.size === 0) return new Map();
  const landings = await tx.mergeOps.list({ kind: "land", status: "done" });
  const kindOf = new Map(undos.map(({ id }) => [id, "undo"]));
  const about = new Map<string, WordAboutBranch[]>();
  for (const op of [...undos, ...landings].toSorted((a, b) => b.seq - a.seq)) {
    for (const [at, queueId] of op.queueIds.entries()) {
      const branch = branchOf.get(queueId);
      const commit = landedCommitOf(op, at, queueId);
      if (branch === undefined || commit === undefined || !affected.has(branch)) continue;
      const again = op.undoes !== null && kindOf.has(op.undoes);
      const says = op.kind === "land" ? "landed" : again ? "brought back" : "taken out";
      const words = about.get(branch) ?? [];
      words.push({ says, commit, queueId, opId: op.id });
      about.set(branch, words);
    }
  }
  return about;
}

/**
 * The commit that landed an entry, or took it out. Undefined when the ref simply went back: then the landing is not in
 * its history any more, and needs no word.
 */
export function landedCommitOf(
  { kind, request, afterCommit }: MergeOp,
  at: number,
  queueId: number,
): string | undefined {
  if (kind === "undo") return request.commits?.[at];
  const members = [...(request.members ?? []), ...(request.along ?? [])];
  return members.find(({ id }) => id === queueId)?.commit ?? afterCommit ?? undefined;
}

/** Is a commit on record in the history of `into`? False for a commit that the repository no longer has. */
export const hasCommit =
  (merging: Pick<MergeGit, "commitOf" | "contains">, into: string) =>
  async (commit: string): Promise<boolean> =>
    (await merging.commitOf(commit)) !== undefined && (await merging.contains(into, commit));

/** The files that landing a head on `onto` would change: its own, and those that come back with it. */
export async function filesBrought(
  merging: Pick<MergeGit, "commitOf" | "changedFiles">,
  { onto, head, out }: { readonly onto: string; readonly head: string; readonly out: readonly TakenOut[] },
): Promise<readonly string[]> {
  const files = new Set(await merging.changedFiles(onto, head));
  for (const { by } of out) {
    const before = await merging.commitOf(`${by}^1`);
    if (before !== undefined) for (const file of await merging.changedFiles(before, by)) files.add(file);
  }
  return [...files].toSorted();
}

/** Where the work on a branch begins of which something was taken out again. */
export interface TakenOutBase {
  /** The landing branch as it was before the first of the landings that were taken out. */
  readonly before: string;
  /** The commit that the branch and it have in common: everything since counts as the agent's work again. */
  readonly base: string;
}

/** Undefined when nothing of the branch was taken out of `into`, or it is back. */
export async function baseOfTakenOut(
  merging: Pick<MergeGit, "commitOf" | "contains" | "baseOf">,
  about: {
    readonly branch: string;
    /** Default: the tip of the branch. */
    readonly head?: string | undefined;
    readonly into: string;
    readonly words: readonly WordAboutBranch[];
  },
): Promise<TakenOutBase | undefined> {
  const { branch, into, words } = about;
  const head = await merging.commitOf(about.head ?? `refs/heads/${branch}`);
  const onto = await merging.commitOf(into);
  if (head === undefined || onto === undefined) return undefined;
  const first = (await takenOut(words, hasCommit(merging, onto))).at(-1);
  const before = first?.landedBy == null ? undefined : await merging.commitOf(`${first.landedBy}^1`);
  const base = before === undefined ? undefined : await merging.baseOf(before, head);
  return before === undefined || base === undefined ? undefined : { before, base };
}

export interface BranchRecord {
  /** For each branch what the record says about it, the newest first. */
  readonly words: readonly (readonly WordAboutBranch[])[];
  /** For each branch the commit of its last landing that was not taken back; null when there is none. */
  readonly landed: readonly (string | null)[];
  /** Where work of the run lands. */
  readonly landing: string;
  /** The user's branch that it is meant for. */
  readonly target: string;
}

/** What the record says about landings of these branches. */
export const readBranchRecord: UseCase<
  { readonly branches: readonly string[]; readonly runId: string | null },
  BranchRecord
> = {
  kind: "read",
  request: fields({ branches: list(text), runId: orNull(text) }),
  run: async (tx, context, { branches, runId }) => {
    const about = await wordsAboutAll(tx);
    const words = branches.map((branch) => about.get(branch) ?? []);
    const landed: (string | null)[] = [];
    for (const branch of branches) {
      landed.push((await tx.merges.list({ branch, statuses: ["merged"] })).at(-1)?.resultCommit ?? null);
    }
    const run = runId === null ? undefined : await tx.runs.get(runId);
    const target = run?.targetBranch ?? context.settings.project.canonicalBranch;
    return ok({ words, landed, landing: await targetOf(tx, context, runId), target });
  },
};
