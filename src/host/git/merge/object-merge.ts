import type { ObjectMerge } from "../../../ports/merge-git.ts";
import { type GitAnswer, zeroEnded } from "../git.ts";
import { canUnbuffer } from "../git-session.ts";
import type { OwnQuestions } from "../own-dir.ts";
import { type AttributeSet, type Attributes, none } from "./attributes.ts";
import { conflictsIn, isRecord, type MergeOutput, readBatch, readMerge } from "./merge-output.ts";
import type { MergeRepository } from "./merge-repository.ts";
import { endsOfHistory, shallowAdvice, shallowWords } from "./sound-objects.ts";

export interface Pair {
  readonly ours: string;
  readonly theirs: string;
  /** Where `ours` is a stand-in: the commit whose attributes count. */
  readonly attributesOf?: string;
}

type Environment = Readonly<Record<string, string>>;

interface MergerOptions {
  /** There will be many merges: a process of git stays for the next one. */
  readonly stays?: boolean;
  /** How long git may take to merge two commits. The queue waits meanwhile. */
  readonly limitMs?: number;
}

const usualLimitMs = 60_000;

export interface ObjectMerger {
  /** Starts the process that stays. */
  start(): Promise<void>;
  merge(pair: Pair, env?: Environment): Promise<ObjectMerge>;
  mergePairs(pairs: readonly Pair[]): Promise<readonly ObjectMerge[]>;
}

/**
 * Merges through `merge-tree`. Attributes matter only where both sides changed one file, and git reports that. So a merge
 * runs with the attributes of the merge before it. Only if it used them, they are compared with those of its own commit,
 * and the merge is done again if they differ.
 */
export function objectMerger(
  mergeRepo: MergeRepository,
  attributes: Attributes,
  { stays = false, limitMs = usualLimitMs }: MergerOptions = {},
): ObjectMerger {
  /** Merges that took too long just now. Another step of the same landing does not wait for them once more. */
  const late = new Map<string, { readonly answer: ObjectMerge; readonly until: number }>();
  let likely: AttributeSet = none;
  const staying = stays && canUnbuffer() ? stayingMerges(mergeRepo) : undefined;

  /** The set that the merge should have used; the one it did use where that made no difference. */
  const rightSet = async (pair: Pair, used: AttributeSet, output: MergeOutput): Promise<AttributeSet> => {
    if (!usedAttributes(output)) return used;
    const right = await attributes.of(pair.attributesOf ?? pair.ours);
    likely = right;
    return right;
  };

  const mergeWith = async (used: AttributeSet, pair: Pair, env: Environment): Promise<ObjectMerge> => {
    const workTree = attributes.workTree(used);
    for (const [name, { until }] of late) if (until <= performance.now()) late.delete(name);
    const known = late.get(`${pair.ours} ${pair.theirs}`);
    if (known !== undefined) return known.answer;
    const asked = Object.keys(env).length === 0 ? await staying?.ask(workTree, pair) : undefined;
    const { answer, output } = asked ?? (await mergeOnce(mergeRepo, { workTree, limitMs }, pair, env));
    if (answer.isLate === true) {
      const explained = await explainLate(mergeRepo, pair, limitMs, env);
      late.set(`${pair.ours} ${pair.theirs}`, { answer: explained, until: performance.now() + limitMs });
      return explained;
    }
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
        await mergeMany(mergeRepo, { workTree: attributes.workTree(used), limitMs }, rest)
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

  const start = async (): Promise<void> => staying?.start(attributes.workTree(likely));
  return { start, merge: (pair, env = {}) => mergeWith(likely, pair, env), mergePairs };
}

const mergeTree = ["-c", "merge.verbosity=5", "merge-tree", "--write-tree", "-z", "--messages"];

interface Once {
  readonly answer: Pick<GitAnswer, "code" | "err"> & Partial<Pick<GitAnswer, "isLate">>;
  /** Undefined when there is no result of any kind. */
  readonly output: MergeOutput | undefined;
}

interface MergeTerms {
  readonly workTree: string;
  readonly limitMs: number;
}

async function mergeOnce(
  mergeRepo: MergeRepository,
  { workTree, limitMs }: MergeTerms,
  { ours, theirs }: Pair,
  env: Environment,
): Promise<Once> {
  const args = ["-C", workTree, ...mergeTree, "--end-of-options", ours, theirs];
  const answer = await mergeRepo.through((own) => own.git(args, { limitMs, env: { ...env, GIT_WORK_TREE: workTree } }));
  return { answer, output: answer.code === 0 || answer.code === 1 ? readMerge(answer.raw) : undefined };
}

/**
 * Merges by a process that stays for the next merge. It need not start, and knows the history that it has read before.
 * Undefined where that process has given no whole answer; then a process for this one merge has to be asked.
 */
function stayingMerges(mergeRepo: MergeRepository): StayingMerges {
  let hasAnswered = false;
  let isSilent = false;
  const commandIn = (workTree: string): OwnQuestions => {
    const args = ["-C", workTree, `--work-tree=${workTree}`, ...mergeTree, "--stdin"];
    return { args, unbuffered: true, limitMs: patienceMs };
  };
  const ask: StayingMerges["ask"] = async (workTree, { ours, theirs }) => {
    if (isSilent || !isId(ours) || !isId(theirs)) return undefined;
    const began = performance.now();
    const raw = await mergeRepo.through((own) => own.ask(commandIn(workTree), `${ours} ${theirs}\n`, isRecord));
    if (raw === undefined) {
      isSilent = !hasAnswered && performance.now() - began >= patienceMs;
      return undefined;
    }
    hasAnswered = true;
    const [record, ...others] = readBatch(raw);
    if (record === undefined || others.length > 0) return undefined;
    const { clean, ...output } = record;
    return { answer: { code: clean ? 0 : 1, err: "" }, output };
  };
  return { ask, start: (workTree) => mergeRepo.through(async (own) => own.start(commandIn(workTree))) };
}

interface StayingMerges {
  start(workTree: string): Promise<void>;
  ask(workTree: string, pair: Pair): Promise<Once | undefined>;
}

const isId = (name: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(name);

/**
 * After this time a process of its own is asked. If git cannot be made to answer at once, this is the only merge that
 * waits for it; a merge that takes longer loses no more than this.
 */
const patienceMs = 2_000;

async function mergeMany(
  mergeRepo: MergeRepository,
  { workTree, limitMs }: MergeTerms,
  pairs: readonly Pair[],
): Promise<ReturnType<typeof readBatch>> {
  const stdin = pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join("");
  const args = ["-C", workTree, ...mergeTree, "--stdin"];
  const answer = await mergeRepo.through((own) => own.git(args, { stdin, limitMs, env: { GIT_WORK_TREE: workTree } }));
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
  { err, code }: Once["answer"],
  env: Environment,
): Promise<ObjectMerge> {
  const { base, isShallow } = await mergeRepo.through(async (own) => ({
    base: await own.git(["merge-base", "--end-of-options", ours, theirs], { env }),
    isShallow: endsOfHistory(own).size > 0,
  }));
  if (base.code === 1 && base.out === "") {
    if (!isShallow) return { kind: "unrelated" };
    return { kind: "failed", problem: `${shallowWords} before a commit that both sides have; ${shallowAdvice}` };
  }
  return { kind: "failed", problem: err.trim() === "" ? `git merge-tree exited ${code}` : err.trim() };
}

/**
 * Git does not say where it was when its time was over. A merge of contents is what takes long, so the largest files that
 * both sides changed are named.
 */
async function explainLate(
  mergeRepo: MergeRepository,
  { ours, theirs }: Pair,
  limitMs: number,
  env: Environment,
): Promise<ObjectMerge> {
  const seconds = `${Math.round(limitMs / 1000)} s`;
  const { out } = await mergeRepo.through((own) => own.git(["merge-base", "--end-of-options", ours, theirs], { env }));
  const changedIn = async (side: string): Promise<ReadonlyMap<string, string>> => {
    const args = [
      "diff-tree",
      "-r",
      "-z",
      "--raw",
      "--no-abbrev",
      "--no-renames",
      "--diff-filter=AM",
      out.trim(),
      side,
    ];
    const { raw } = await mergeRepo.through((own) => own.git(args, { env }));
    const parts = zeroEnded(raw).map(String);
    return new Map(
      parts.flatMap((part, at) => (at % 2 === 0 ? [[parts[at + 1] ?? "", part.split(" ")[3] ?? ""]] : [])),
    );
  };
  const [mine, other] = [await changedIn(ours), await changedIn(theirs)];
  const both = [...mine].filter(([path, id]) => (other.get(path) ?? id) !== id);
  if (both.length === 0) return { kind: "failed", problem: `git did not merge the two commits within ${seconds}` };
  const stdin = both.map(([, id]) => `${id}\n`).join("");
  const { out: sizes } = await mergeRepo.through((own) =>
    own.git(["cat-file", "--batch-check=%(objectsize)"], { stdin, env }),
  );
  const bytes = sizes.split("\n").map(Number);
  const largest = both.map(([path], at) => ({ path, bytes: bytes[at] ?? 0 })).toSorted((a, b) => b.bytes - a.bytes);
  const files = largest.slice(0, mostNamed);
  const named = files.map((file) => `${file.path} (${(file.bytes / 1e6).toFixed(1)} MB)`).join(", ");
  const problem = `git did not merge the lines of ${named} within ${seconds}: both sides changed too many of them (merge.timeoutMs)`;
  return { kind: "failed", problem, files: files.map(({ path }) => path) };
}

const mostNamed = 3;
