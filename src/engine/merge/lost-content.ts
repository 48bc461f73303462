import type { MergeEntry } from "../../domain/merge/entry.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { MergeGit } from "../../ports/merge-git.ts";
import type { Doubt } from "../../usecases/merge/queue/approval.ts";
import type { MergePorts } from "./ports.ts";

type ContentGit = Pick<MergeGit, "baseOf" | "treeOf" | "mergeOver" | "differing">;

export interface Joined {
  /** A commit without the branch. */
  readonly before: string;
  /** A commit after it that has the branch in its history. */
  readonly after: string;
  readonly head: string;
}

/**
 * Files that a branch changes and whose changes did not come in, although its commits are in the history: the merge kept
 * the other side. A file that was settled by hand counts as there when the merge changed it at all.
 */
export async function lostFiles(merging: ContentGit, { before, after, head }: Joined): Promise<readonly string[]> {
  const base = await merging.baseOf(before, head);
  if (base === undefined || base === head) return [];
  const again = await merging.mergeOver(base, after, head);
  if (again.kind !== "clean" && again.kind !== "conflicts") return [];
  const tree = await merging.treeOf(after);
  if (again.tree === tree) return [];
  const [missing = []] = await merging.differing([{ from: tree, to: again.tree }]);
  if (again.kind === "clean") return missing;
  const settled = new Set(again.conflicts.map(({ path }) => path));
  const [came = []] = await merging.differing([{ from: before, to: after }]);
  return missing.filter((path) => !settled.has(path) || !came.includes(path));
}

/** The question about an entry whose commits are in the history of `onto` and whose changes are not. */
export async function doubtAboutContent(
  { merging, store }: MergePorts,
  onto: string,
  { branch, headCommit: head }: MergeEntry,
): Promise<Doubt | undefined> {
  const landed = await store.read((tx) => tx.merges.list({ branch, statuses: ["merged"] }));
  for (const { headCommit } of landed) {
    // The branch landed by itself, so no other agent chose which of its changes came in.
    const isThere = headCommit !== "" && (await merging.commitOf(headCommit)) !== undefined;
    if (isThere && (await merging.contains(headCommit, head)) && (await merging.contains(onto, headCommit))) return;
  }
  const joined = await whereItCameIn(merging, onto, head);
  const files = joined === undefined ? [] : await lostFiles(merging, { ...joined, head });
  if (joined === undefined || files.length === 0) return undefined;
  const by = (await merging.subjectOf(joined.after)).slice(0, longestSubject);
  const why = `its commits came in with "${by}", but its changes of ${namedIn(files)} are not there: they were left out when the branch was merged, or taken out again by what came in with it`;
  return { why: [why], files, difference: await merging.patchOf(joined.before, head, files) };
}

const longestSubject = 120;

/** The first commit by which `onto` itself moved that has the branch in its history, and the commit before it. */
async function whereItCameIn(
  merging: MergePorts["merging"],
  onto: string,
  head: string,
): Promise<Omit<Joined, "head"> | undefined> {
  const line = await merging.commitsSince(head, onto, "mainLine");
  let [low, high] = [0, line.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (await merging.contains(line[middle]?.commit ?? onto, head)) high = middle;
    else low = middle + 1;
  }
  const found = line[low];
  const before = found?.parents[0];
  if (found === undefined || before === undefined || before === head) return undefined;
  return { before, after: found.commit };
}
