import type { MergeOutcome, Texts } from "../outcome.ts";
import { parseYaml } from "../parsers/yaml-tree.ts";
import { mergeDocuments } from "./merge-document.ts";

/** Merges YAML key by key. Indentation carries meaning there, so text is never moved to another depth. */
export function mergeYaml(texts: Texts): MergeOutcome {
  const format = { parse: parseYaml, reindent: () => undefined, ordered: () => false };
  return mergeDocuments(texts, { ...format, ties: ["anchor", "alias"] });
}
