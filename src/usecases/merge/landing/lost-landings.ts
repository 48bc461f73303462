import { ok } from "../../../domain/result.ts";
import { fields, text } from "../../../domain/schema/schema.ts";
import type { AheadGit } from "../../../ports/merge-git.ts";
import { heads } from "../../branches/branches.ts";
import type { Effect } from "../../operation.ts";
import type { UseCase } from "../../usecase.ts";
import { landedCommitOf } from "./taken-out.ts";

/** The last landing of a branch on a target, unless `ov merge undo` took it back. */
interface DirectLanding {
  readonly branch: string;
  /** The operation that landed it. */
  readonly opId: string;
  /** The tip of the branch as it landed. */
  readonly head: string;
  /** The commit of the target that brought it. */
  readonly commit: string;
}

/** Work that landed on a branch which does not have it any more, although no operation took it out. */
export interface LostLanding extends DirectLanding {
  /** The branch is still there, so that it can land again. */
  readonly hasBranch: boolean;
}

/** The last landing of each branch on this very branch, the oldest first. */
export const readLandings: UseCase<{ readonly target: string }, { readonly landings: readonly DirectLanding[] }> = {
  kind: "read",
  request: fields({ target: text }),
  run: async (tx, _context, { target }) => {
    const ops = await tx.mergeOps.list({ kind: "land", status: "done", ref: heads + target });
    if (ops.length === 0) return ok({ landings: [] });
    const entries = new Map((await tx.merges.list({ statuses: ["merged", "reverted"] })).map((one) => [one.id, one]));
    const last = new Map<string, DirectLanding | undefined>();
    for (const op of ops) {
      for (const [at, id] of op.queueIds.entries()) {
        const entry = entries.get(id);
        if (entry === undefined || last.has(entry.branch)) continue;
        const { branch, status, headCommit: head } = entry;
        const commit = landedCommitOf(op, at, id);
        const isIn = status === "merged" && commit !== undefined;
        last.set(branch, isIn ? { branch, opId: op.id, head, commit } : undefined);
      }
    }
    return ok({ landings: [...last.values()].filter((one) => one !== undefined).toReversed() });
  },
};

/**
 * Work that landed on the target itself and that was reset or rebased away later. What the target has in other commits
 * is not lost.
 */
export const listLost: Effect<{ readonly target: string }, { readonly lost: readonly LostLanding[] }> = {
  kind: "effect",
  request: fields({ target: text }),
  place: "engine",
  run: async (world, { target }) => {
    const read = await world.call("merge.readLandings", { target });
    if (!read.ok) return read;
    const { landings } = read.value;
    if (landings.length === 0) return ok({ lost: [] });
    return ok({ lost: await world.lookAhead((git) => lostOf(git, heads + target, landings)) });
  },
};

async function lostOf(git: AheadGit, ref: string, landings: readonly DirectLanding[]): Promise<readonly LostLanding[]> {
  const tip = await git.commitOf(ref);
  if (tip === undefined) return [];
  const lost: LostLanding[] = [];
  for (const landing of landings) {
    if (await isThere(git, tip, landing.commit)) continue;
    lost.push({ ...landing, hasBranch: (await git.commitOf(heads + landing.branch)) !== undefined });
  }
  return lost;
}

/** Has the target this landing: as itself, or because making the same changes again would change nothing? */
async function isThere(git: AheadGit, tip: string, landed: string): Promise<boolean> {
  const commit = await git.commitOf(landed);
  // Git has deleted it, so no branch has it.
  if (commit === undefined) return false;
  if (await git.contains(tip, commit)) return true;
  const before = await git.commitOf(`${commit}^1`);
  if (before === undefined) return false;
  const again = await git.mergeOver(before, tip, commit);
  return again.kind === "clean" && again.tree === (await git.treeOf(tip));
}
