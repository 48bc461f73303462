import { climb } from "../domain/merge/ladder/climb.ts";
import { identicalRung, trivialRung } from "../domain/merge/ladder/identical.ts";
import { linesRung } from "../domain/merge/ladder/lines.ts";
import { regenerateRung } from "../domain/merge/ladder/regenerate.ts";
import { type MergeCode, structuredRung } from "../domain/merge/ladder/structured.ts";
import { unionRung } from "../domain/merge/ladder/union.ts";
import { languageOf } from "../domain/merge/structured/syntax.ts";
import { parseYaml } from "../host/syntax/yaml-tree.ts";
import type { MergerFacet } from "../surfaces/cli/facets/merger.ts";
import { settleIn } from "./long-life.ts";

/** Merging of one file by every rule that needs no repository. */
export function makeMergerFacet(): MergerFacet {
  const rungs = [
    trivialRung,
    identicalRung,
    unionRung({ parseYaml }),
    regenerateRung(),
    structuredRung({ parseYaml, mergeCode: codeByLanguage }),
    linesRung,
  ];
  return {
    mergeFile: async (triple) => {
      const climbed = await climb(rungs, { ...triple, kind: "content" });
      if (climbed.kind === "escalate") return { kind: "refused", reason: climbed.reason };
      return { kind: "merged", content: climbed.content, strategy: climbed.strategy };
    },
  };
}

/** The grammars are large: they are loaded only when there is code to read. */
const codeByLanguage: MergeCode = async (path, texts) => {
  const language = languageOf(path);
  if (language === undefined) return undefined;
  settleIn();
  const [{ mergeCode }, { parseSyntax }] = await Promise.all([
    import("../domain/merge/structured/merge-code.ts"),
    import("../host/syntax/parse.ts"),
  ]);
  return mergeCode(parseSyntax, { language, base: texts.base, ours: texts.ours, theirs: texts.theirs });
};
