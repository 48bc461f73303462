import type { ObjectMerge } from "../../../ports/merge-git.ts";
import type { GitAnswer } from "../git.ts";
import { type AttributeSet, type Attributes, none } from "./attributes.ts";
import { conflictsIn } from "./conflicts.ts";
import type { MergeRepository } from "./merge-repository.ts";
import { type MergeOutput, readBatch, readMerge } from "./output.ts";

export interface Pair {
  readonly ours: string;
  readonly theirs: string;
  /** Where `ours` is a stand-in: the commit whose attributes count. */
  readonly attributesOf?: string;
}

type Environment = Readonly<Record<string, string>>;

export interface ObjectMerger {
  merge(pair: Pair, env?: Environment): Promise<ObjectMerge>;
  mergePairs(pairs: readonly Pair[]): Promise<readonly ObjectMerge[]>;
}

/**
 * Merges through `merge-tree`. Attributes have a say only where both sides changed one file, which git reports; so a
 * merge runs with the attributes that counted last, and only one that used them is compared with those of its own
 * commit, and done again if they differ.
 */
export function objectMerger(mergeRepo: MergeRepository, attributes: Attributes): ObjectMerger {
  let likely: AttributeSet = none;

  /** The set that the merge should have used; the one it did use where that made no difference. */
  const rightSet = async (pair: Pair, used: AttributeSet, output: MergeOutput): Promise<AttributeSet> => {
    if (!usedAttributes(output)) return used;
    const right = await attributes.of(pair.attributesOf ?? pair.ours);
    likely = right;
    return right;
  };

  const mergeWith = async (used: AttributeSet, pair: Pair, env: Environment): Promise<ObjectMerge> => {
    const { answer, output } = await mergeOnce(mergeRepo, attributes.workTree(used), pair, env);
    if (output === undefined) return await explain(mergeRepo, pair, answer, env);
    const right = await rightSet(pair, used, output);
    return right === used ? resultOf(answer.code === 0, output, pair) : await mergeWith(right, pair, env);
  };

  const mergePairs = async (pairs: readonly Pair[]): Promise<readonly ObjectMerge[]> => {
    const results: ObjectMerge[] = [];
    while (results.length < pairs.length) {
      const rest = pairs.slice(results.length);
      const used = likely;
      for (const [at, { clean, ...output }] of (
        await mergeMany(mergeRepo, attributes.workTree(used), rest)
      ).entries()) {
        const pair = rest[at];
        if (pair === undefined) break;
        const right = await rightSet(pair, used, output);
        results.push(right === used ? resultOf(clean, output, pair) : await mergeWith(right, pair, {}));
      }
      // Git gives up at the first pair that cannot be merged at all; alone it says why.
      const culprit = pairs[results.length];
      if (culprit !== undefined) results.push(await mergeWith(likely, culprit, {}));
    }
    return results;
  };

  return { merge: (pair, env = {}) => mergeWith(likely, pair, env), mergePairs };
}

const mergeTree = ["-c", "merge.verbosity=5", "merge-tree", "--write-tree", "-z", "--messages"];

interface Once {
  readonly answer: GitAnswer;
  /** Undefined when there is no result of any kind. */
  readonly output: MergeOutput | undefined;
}

async function mergeOnce(
  mergeRepo: MergeRepository,
  workTree: string,
  { ours, theirs }: Pair,
  env: Environment,
): Promise<Once> {
  const args = ["-C", workTree, ...mergeTree, "--end-of-options", ours, theirs];
  const answer = await mergeRepo.through((own) => own.git(args, { env: { ...env, GIT_WORK_TREE: workTree } }));
  return { answer, output: answer.code === 0 || answer.code === 1 ? readMerge(answer.raw) : undefined };
}

async function mergeMany(
  mergeRepo: MergeRepository,
  workTree: string,
  pairs: readonly Pair[],
): Promise<ReturnType<typeof readBatch>> {
  const stdin = pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join("");
  const args = ["-C", workTree, ...mergeTree, "--stdin"];
  const answer = await mergeRepo.through((own) => own.git(args, { stdin, env: { GIT_WORK_TREE: workTree } }));
  return readBatch(answer.raw);
}

/** Also said of merges between several common ancestors, at this verbosity. */
const usedAttributes = ({ notes }: MergeOutput): boolean =>
  notes.some(({ kind }) => kind === "Auto-merging" || kind === "CONFLICT (contents)" || kind === "CONFLICT (binary)");

function resultOf(clean: boolean, output: MergeOutput, { ours, theirs }: Pair): ObjectMerge {
  const { tree } = output;
  if (clean) return { kind: "clean", tree };
  const conflicts = conflictsIn(output, [ours, theirs]);
  if (conflicts.length === 0) return { kind: "failed", problem: "git reports conflicts but names none" };
  return { kind: "conflicts", tree, conflicts };
}

async function explain(
  mergeRepo: MergeRepository,
  { ours, theirs }: Pair,
  { err, code }: GitAnswer,
  env: Environment,
): Promise<ObjectMerge> {
  const base = await mergeRepo.through((own) => own.git(["merge-base", "--end-of-options", ours, theirs], { env }));
  if (base.code === 1 && base.out === "") return { kind: "unrelated" };
  return { kind: "failed", problem: err.trim() === "" ? `git merge-tree exited ${code}` : err.trim() };
}
