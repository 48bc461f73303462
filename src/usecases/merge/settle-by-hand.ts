import { hasEnded } from "../../domain/agent/agent.ts";
import { isOpenMerge } from "../../domain/merge/entry.ts";
import { joinCommand } from "../../domain/merge/words.ts";
import { ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { UseCase } from "../usecase.ts";
import { ownerOfBranch } from "./branch-owner.ts";
import { purposeOf } from "./landing/landing-target.ts";
import { findEntry } from "./merge-records.ts";

/** How a person settles the conflicts of an entry on its branch and hands it back: commands to type, one after the other. */
export interface HandSteps {
  readonly steps: readonly { readonly does: string; readonly command: string }[];
  /** The agent that works on the branch at this moment, and may commit there as well; null: none does. */
  readonly busyAgent: string | null;
  /** The worktree of its agent, in which the branch is checked out; null: it is checked out nowhere that we know. */
  readonly worktree: string | null;
}

export const planByHand: UseCase<{ readonly of: string }, HandSteps> = {
  kind: "read",
  request: fields({ of: text }),
  run: async (tx, context, { of }) => {
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    const { branch, targetBranch, id } = found.value;
    const settle = [
      { does: "take in what has landed; git names the files to settle", command: joinCommand(targetBranch) },
      { does: "when the files are settled, commit them", command: "git add --all && git commit --no-edit" },
    ];
    // The next promotion finds that its user has joined them.
    if ((await purposeOf(tx, context, targetBranch))?.target === branch) {
      const begin = { does: "go to a checkout of it", command: `git switch ${shellWord(branch)}` };
      return ok({ steps: [begin, ...settle], busyAgent: null, worktree: null });
    }
    const owner = await ownerOfBranch(tx, branch);
    // Git lets a branch be checked out in one place only, and that of its agent stays until the agent is released.
    const kept = owner?.releasedAt === null ? owner.worktreePath : null;
    const own = `../merge-${id}`;
    const place = kept ?? own;
    const begin =
      kept === null
        ? [
            {
              does: "check the branch out beside your checkout",
              command: `git worktree add ${own} ${shellWord(branch)}`,
            },
          ]
        : [];
    const end = kept === null ? [{ does: "put the worktree away", command: `cd - && git worktree remove ${own}` }] : [];
    const back = isOpenMerge(found.value) ? `ov merge add ${shellWord(branch)}` : `ov merge retry ${id}`;
    const steps = [
      ...begin,
      { does: kept === null ? "go there" : `go to the worktree of ${owner?.name}`, command: `cd ${shellWord(place)}` },
      ...settle,
      { does: "hand the branch back to the queue", command: back },
      ...end,
    ];
    return ok({ steps, busyAgent: owner !== undefined && !hasEnded(owner) ? owner.name : null, worktree: kept });
  },
};
