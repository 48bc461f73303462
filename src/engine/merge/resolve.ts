import { type Conflict, climb, type Rung, type Triple } from "../../domain/merge/ladder.ts";
import type { ConflictInPlace, MergeGit, Settled } from "../../ports/merge-git.ts";

/** Settles conflicts by the rungs of a ladder, from the three versions of a path and never from a file with markers. */
export function resolver(git: Pick<MergeGit, "readBlob" | "isUnion">, rungs: readonly Rung[]) {
  return async ({ conflict, ours }: ConflictInPlace): Promise<Settled> => {
    const triple = await tripleOf(git, conflict, ours);
    if (triple === undefined) return { kind: "escalate", reason: `a ${conflict.kind} conflict needs a decision` };
    const answer = await climb(rungs, triple);
    if (answer.kind === "escalate") return answer;
    const mode = conflict.ours?.mode ?? "100644";
    const file = { path: conflict.path, mode, content: new TextEncoder().encode(answer.content) };
    return { kind: "resolved", file, strategy: answer.strategy };
  };
}

/**
 * Undefined where no rule may settle the conflict: a side lacks the path, is a link or a submodule, is binary, or the
 * modes differ.
 */
export async function tripleOf(
  git: Pick<MergeGit, "readBlob" | "isUnion">,
  { path, kind, base, ours, theirs }: Conflict,
  oursCommit: string,
): Promise<Triple | undefined> {
  if ((kind !== "content" && kind !== "add-add") || ours === null || theirs === null) return undefined;
  if (ours.mode !== theirs.mode || !ours.mode.startsWith("100")) return undefined;
  const [baseText, oursText, theirsText] = await Promise.all([
    base === null ? null : textOf(git, base.oid),
    textOf(git, ours.oid),
    textOf(git, theirs.oid),
  ]);
  if (baseText === undefined || oursText === undefined || theirsText === undefined) return undefined;
  const union = await git.isUnion(oursCommit, path);
  return { path, kind, base: baseText, ours: oursText, theirs: theirsText, union };
}

/** Undefined when it is no text. The mark at its beginning stays: it is part of the file. */
export async function textOf(git: Pick<MergeGit, "readBlob">, oid: string): Promise<string | undefined> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await git.readBlob(oid));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
