import { commitsOf, pairsOf, type RadarHead } from "../../domain/merge/radar.ts";
import { ok } from "../../domain/result.ts";
import type { RadarOutcome } from "../../ports/store/merges.ts";
import type { UseCase } from "../usecase.ts";
import { liveBranches } from "./live-branches.ts";

export interface RadarRequest {
  /** Branches as git has them now, when the caller can see them; else as they were when the agents' turns ended. */
  readonly tips?: Readonly<Record<string, string>> | undefined;
}

export interface RadarCell {
  readonly a: string;
  readonly b: string;
  /** The commits under which the pair is known. */
  readonly ours: string;
  readonly theirs: string;
  /** Null: nobody has looked at these two commits yet. */
  readonly outcome: RadarOutcome | null;
  readonly files: readonly string[];
}

export interface RadarView {
  readonly branches: readonly (RadarHead & {
    /** Its agent has committed since anybody looked. */
    readonly moved: boolean;
  })[];
  readonly pairs: readonly RadarCell[];
}

/** Which live branches would collide, as far as it has been looked at. */
export const readRadar: UseCase<RadarRequest, RadarView> = {
  kind: "read",
  run: async (tx, context, { tips }) => {
    const live = await liveBranches(tx, context);
    const branches = live.flatMap(({ branch, commit: seen, agentName, landsOn }) => {
      const commit = tips === undefined ? seen : own(tips, branch);
      return commit === undefined ? [] : [{ branch, commit, agentName, landsOn, moved: commit !== seen }];
    });
    for (const branch of new Set(live.map(({ landsOn }) => landsOn))) {
      const commit = tips === undefined ? undefined : own(tips, branch);
      if (commit !== undefined) branches.push({ branch, commit, agentName: null, landsOn: branch, moved: false });
    }
    const pairs: RadarCell[] = [];
    for (const pair of pairsOf(branches)) {
      const commits = commitsOf(pair);
      const known = await tx.radar.pair(commits.ours, commits.theirs);
      const found = { outcome: known?.outcome ?? null, files: known?.files ?? [] };
      pairs.push({ a: pair.a.branch, b: pair.b.branch, ...commits, ...found });
    }
    return ok({ branches, pairs });
  },
};

const own = (tips: Readonly<Record<string, string>>, branch: string): string | undefined =>
  Object.hasOwn(tips, branch) ? tips[branch] : undefined;
