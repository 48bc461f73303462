import { commandFor } from "../engine/merge/regenerate.ts";
import { resolver } from "../engine/merge/resolve.ts";
import { scratchMerging } from "../host/git/merge/scratch.ts";
import type { RadarFacet } from "../surfaces/cli/facets/radar.ts";
import { judgePairs } from "../usecases/merge/judge-pairs.ts";
import { ladder } from "./ladder.ts";
import { openStore, type Project, settingsOf } from "./project.ts";

/** Looking ahead from a command, in a place that vanishes with it. */
export function makeRadarFacet(project: Project): RadarFacet {
  return {
    tips: async () => {
      using git = await scratchMerging(project.root);
      const refs = await git.refsBelow(heads);
      return Object.fromEntries(refs.map(({ ref, commit }) => [ref.slice(heads.length), commit]));
    },
    judge: async (pairs) => {
      using git = await scratchMerging(project.root);
      const store = openStore(project, { life: "command", readOnly: true });
      try {
        const rules = settingsOf(project);
        const isGenerated = (path: string): boolean => commandFor({ rules }, path) !== undefined;
        return await judgePairs({ merging: git, resolve: resolver(git, ladder(project, store)), isGenerated }, pairs);
      } finally {
        await store.close();
      }
    },
  };
}

const heads = "refs/heads/";
