import type { CommitPair } from "../../domain/merge/radar.ts";
import type { MergeGit, ObjectMerge } from "../../ports/merge-git.ts";
import type { RadarOutcome } from "../../ports/store/merges.ts";
import type { PredictPorts } from "./predict.ts";

export interface JudgePorts extends Pick<PredictPorts, "resolve"> {
  readonly merging: Pick<MergeGit, "mergePairs">;
  /** Would this file be made again by a command? */
  isGenerated(path: string): boolean;
}

export interface JudgedPair extends CommitPair {
  readonly outcome: RadarOutcome;
  /** Where they meet; of a conflict only what no rule settles. */
  readonly files: readonly string[];
}

/** What merging each of these pairs would give, by the rules that landing follows. A pair that git cannot read is left out. */
export async function judgePairs(ports: JudgePorts, pairs: readonly CommitPair[]): Promise<readonly JudgedPair[]> {
  if (pairs.length === 0) return [];
  const merges = await ports.merging.mergePairs(pairs);
  const judged: JudgedPair[] = [];
  for (const [at, pair] of pairs.entries()) {
    const merge = merges[at];
    const found = merge === undefined ? undefined : await judge(ports, pair, merge);
    if (found !== undefined) judged.push({ ...pair, ...found });
  }
  return judged;
}

async function judge(
  ports: JudgePorts,
  pair: CommitPair,
  merge: ObjectMerge,
): Promise<Pick<JudgedPair, "outcome" | "files"> | undefined> {
  switch (merge.kind) {
    case "clean":
      return { outcome: "clean", files: [] };
    case "unrelated":
      return { outcome: "conflict", files: [] };
    case "failed":
      return undefined;
    case "conflicts": {
      const open: string[] = [];
      for (const conflict of merge.conflicts) {
        if (conflict.kind === "content" && ports.isGenerated(conflict.path)) continue;
        if ((await ports.resolve({ conflict, ...pair })).kind === "escalate") open.push(conflict.path);
      }
      if (open.length > 0) return { outcome: "conflict", files: open };
      return { outcome: "structured", files: merge.conflicts.map(({ path }) => path) };
    }
  }
}
