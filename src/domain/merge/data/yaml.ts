import { mergeDocuments } from "./document.ts";
import type { MergeOutcome, Texts } from "./outcome.ts";
import type { Document } from "./tree.ts";

/** Reads YAML without losing a byte; gives up on what it cannot take apart. Implemented outside, over a real parser. */
export type ParseYaml = (text: string) => Document;

/** Merges YAML key by key. Indentation carries meaning there, so text is never moved to another depth. */
export function mergeYaml(texts: Texts, parse: ParseYaml): MergeOutcome {
  return mergeDocuments(texts, { parse, reindent: () => undefined, ties: ["anchor", "alias"], ordered: () => false });
}
