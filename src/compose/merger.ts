import { climb } from "../domain/merge/ladder/climb.ts";
import { regenerateRung } from "../domain/merge/ladder/regenerate.ts";
import type { Rung } from "../domain/merge/ladder/triple.ts";
import {
  identicalRule,
  languageOf,
  linesRule,
  structureRule,
  trivialRule,
  unionRule,
} from "../structured-merge/index.ts";
import type { MergerFacet } from "../surfaces/cli/facets/merger.ts";
import { settleIn } from "./long-life.ts";

/** Merging of one file by every rule that needs no repository. */
export function makeMergerFacet(): MergerFacet {
  const rungs = [trivialRule, identicalRule, unionRule, regenerateRung(), structureRung, linesRule];
  return {
    mergeFile: async (triple) => {
      const climbed = await climb(rungs, { ...triple, kind: "content" });
      if (climbed.kind === "escalate") return { kind: "refused", reason: climbed.reason };
      return { kind: "merged", content: climbed.content, strategy: climbed.strategy };
    },
  };
}

/** Reading code takes long enough for compiling the merger to pay. */
const structureRung: Rung = {
  name: structureRule.name,
  attempt: (triple) => {
    if (languageOf(triple.path) !== undefined) settleIn();
    return structureRule.attempt(triple);
  },
};
