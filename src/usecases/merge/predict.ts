import type { MergeCause, ResolutionTier } from "../../domain/merge/entry.ts";
import { takenOut, type WordAboutBranch } from "../../domain/merge/taken-out.ts";
import type { ConflictInPlace, MergeGit, ObjectMerge, ResolvedFile, Settled } from "../../ports/merge-git.ts";
import { hasCommit } from "./taken-out.ts";

/** What would become of a branch if it were landed now. */
export interface Prediction {
  readonly predictedTier: ResolutionTier;
  /** What rules would settle, or, where they do not, what is left for somebody to decide. */
  readonly conflictFiles: readonly string[];
  readonly wouldRequireAgent: boolean;
  readonly reason: string;
  readonly strategy: string | null;
  readonly cause: MergeCause | null;
}

export interface PredictPorts {
  readonly merging: Pick<MergeGit, "merge" | "revert" | "contains" | "commitOf" | "withFiles" | "commit">;
  /** The ladder that the merge worker climbs. */
  resolve(conflict: ConflictInPlace): Promise<Settled>;
}

/** What would land. */
export interface Candidate {
  /** Undefined: there is no such branch. */
  readonly head: string | undefined;
  /** What the record says about its branch. */
  readonly words: readonly WordAboutBranch[];
}

/**
 * Merges these heads onto `onto`, one upon the other as a train would, in a place whose objects vanish. One that cannot
 * be merged is left out of what follows. Never rejects: what cannot be predicted is predicted to need somebody.
 */
export async function predictTrain(
  ports: PredictPorts,
  onto: string,
  candidates: readonly Candidate[],
): Promise<readonly Prediction[]> {
  const predictions: Prediction[] = [];
  let tip = onto;
  for (const candidate of candidates) {
    const { prediction, next } = await predict(ports, tip, candidate).catch((error: unknown) => ({
      prediction: unpredictable(error instanceof Error ? error.message : String(error), "git_error"),
      next: tip,
    }));
    predictions.push(prediction);
    tip = next;
  }
  return predictions;
}

/** The prediction for what cannot be looked at. */
export const unpredictable = (why: string, cause: MergeCause): Prediction =>
  needsSomebody({ conflictFiles: [], reason: `prediction-failed: ${why}`, cause });

interface Step {
  readonly prediction: Prediction;
  /** What the next one would be merged onto. */
  readonly next: string;
}

async function predict(ports: PredictPorts, tip: string, { head, words }: Candidate): Promise<Step> {
  const { merging } = ports;
  if (head === undefined) return { prediction: unpredictable("there is no such branch", "missing_ref"), next: tip };
  const isContained = await merging.contains(tip, head);
  const out = await takenOut(words, hasCommit(merging, tip));
  if (out.length === 0) {
    if (isContained) return { prediction: byRule(null, [], "already contained"), next: tip };
    return attempt(ports, { tip, head }, await merging.merge(tip, head));
  }
  // Git takes what was taken out for merged, so it is brought back first, as the merge worker does.
  let step: Step = { prediction: byRule("redo", [], bringsBack), next: tip };
  for (const by of new Set(out.map((one) => one.by))) {
    step = await attempt(ports, { tip: step.next, head }, await merging.revert(by, step.next));
    if (step.prediction.wouldRequireAgent) return { ...step, next: tip };
  }
  if (!isContained) step = await attempt(ports, { tip: step.next, head }, await merging.merge(step.next, head));
  if (step.prediction.wouldRequireAgent) return { ...step, next: tip };
  const { strategy, conflictFiles } = step.prediction;
  return { ...step, prediction: byRule(strategy ?? "redo", conflictFiles, bringsBack) };
}

const bringsBack = "it landed and was taken out again; this brings it back";

async function attempt(
  ports: PredictPorts,
  { tip, head }: { readonly tip: string; readonly head: string },
  merged: ObjectMerge,
): Promise<Step> {
  switch (merged.kind) {
    case "clean":
      return go(ports, { tip, head, tree: merged.tree }, byRule(null, [], "merges without conflicts"));
    case "unrelated": {
      const reason = "the branches have no common history";
      return {
        prediction: needsSomebody({ conflictFiles: [], reason, cause: "no_common_history" }),
        next: tip,
      };
    }
    case "failed":
      return { prediction: unpredictable(merged.problem, "git_error"), next: tip };
    case "conflicts":
      return settle(ports, { tip, head }, merged);
  }
}

async function settle(
  ports: PredictPorts,
  { tip, head }: { readonly tip: string; readonly head: string },
  { tree, conflicts }: Extract<ObjectMerge, { kind: "conflicts" }>,
): Promise<Step> {
  const files: ResolvedFile[] = [];
  const strategies = new Set<string>();
  const open: { readonly path: string; readonly reason: string }[] = [];
  for (const conflict of conflicts) {
    const answer = await ports.resolve({ conflict, ours: tip, theirs: head });
    if (answer.kind === "escalate") open.push({ path: conflict.path, reason: answer.reason });
    else {
      files.push(answer.file);
      strategies.add(answer.strategy);
    }
  }
  const [first] = open;
  if (first !== undefined) {
    const more = open.length === 1 ? "" : ` (and ${open.length - 1} more)`;
    const reason = `${first.path}: ${first.reason}${more}`;
    const conflictFiles = open.map(({ path }) => path);
    return { prediction: needsSomebody({ conflictFiles, reason, cause: "conflict" }), next: tip };
  }
  const strategy = [...strategies].toSorted().join("+");
  const paths = conflicts.map(({ path }) => path);
  const prediction = byRule(strategy, paths, `rules settle every conflict (${strategy})`);
  return go(ports, { tip, head, tree: await ports.merging.withFiles(tree, files) }, prediction);
}

async function go(
  { merging }: PredictPorts,
  { tip, head, tree }: { readonly tip: string; readonly head: string; readonly tree: string },
  prediction: Prediction,
): Promise<Step> {
  const next = await merging.commit({ tree, parents: [tip, head], message: "prediction\n" });
  return { prediction, next };
}

const byRule = (strategy: string | null, conflictFiles: readonly string[], reason: string): Prediction => ({
  predictedTier: strategy === null ? "clean-merge" : "auto-resolve",
  conflictFiles,
  wouldRequireAgent: false,
  reason,
  strategy,
  cause: null,
});

const needsSomebody = (why: Pick<Prediction, "conflictFiles" | "reason" | "cause">): Prediction => ({
  predictedTier: "ai-resolve",
  wouldRequireAgent: true,
  strategy: null,
  ...why,
});
