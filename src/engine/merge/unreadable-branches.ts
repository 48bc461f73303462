import { bringsTarget, type MergeEntry } from "../../domain/merge/entry.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import { rejected } from "../../usecases/merge/queue/settle-entry.ts";
import { branchRef, type MergePorts, mergeContext } from "./ports.ts";

/**
 * Looks at entries together. One git process reads the branches of all of them, and one branch that git cannot read fails
 * the whole look. Such entries fail by name then, and the others are looked at again.
 */
export async function lookTogether<T>(
  ports: MergePorts,
  read: () => Promise<readonly MergeEntry[]>,
  look: (entries: readonly MergeEntry[]) => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await look(await read());
    } catch (error) {
      // Where git is what broke, this search breaks too. The first error says why.
      const bad = await rejectUnreadable(ports, await read()).catch((): ReadonlySet<number> => new Set());
      if (bad.size === 0) throw error;
    }
  }
}

/** Fails the entries whose commits, or files, git cannot read. Answers their numbers. */
export async function rejectUnreadable(
  ports: MergePorts,
  entries: readonly MergeEntry[],
): Promise<ReadonlySet<number>> {
  const { merging, store } = ports;
  const found = new Set<number>();
  const tips = new Map((await merging.refsBelow(branchRef(""))).map(({ ref, commit }) => [ref, commit]));
  for (const entry of entries) {
    const { branch, targetBranch } = entry;
    const head = entry.headCommit === "" ? tips.get(branchRef(branch)) : entry.headCommit;
    const tip = await merging.commitOf(branchRef(targetBranch));
    const of = { isKnown: bringsTarget(entry) };
    const problem = head === undefined || tip === undefined ? undefined : await merging.unreadable(tip, head, of);
    if (problem === undefined) continue;
    found.add(entry.id);
    const next = `look at the damage: git fsck; then commit the work again, and: ov merge --branch ${shellWord(branch)}`;
    const message = `git cannot read all of ${branch}: ${problem}; ${next}`;
    await store.transaction((tx) =>
      rejected(tx, mergeContext(ports), entry, { status: "failed", cause: "git_error", detail: { message } }),
    );
  }
  return found;
}
