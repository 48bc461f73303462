/**
 * The only file of this folder that the rest of the program imports. Every rule loads its merger when it is first asked,
 * so importing this file is cheap.
 */
import type { Answer, MergeRule, Versions } from "./versions.ts";

export type { Branch, Node, Part } from "./data/document-tree.ts";
export {
  added,
  asList,
  asMap,
  editJson,
  innerIndent,
  type JsonEdit,
  partOf,
  replaced,
  type Style,
  stringOf,
  without,
} from "./data/json-text.ts";
export { joinsByRule, languageOf, type Regeneration, regenerationFor } from "./file-format.ts";
export { alignMatched, matches as matchingPlaces, type Piece, piecesOf } from "./lines/align.ts";
export { hasConflictMarkers } from "./lines/conserved-lines.ts";
export { type Answer, escalate, type MergeRule, plainOf, resolved, skip, type Versions } from "./versions.ts";

/** A rule whose merger is loaded when it is first asked. */
const lazy = (name: string, load: () => Promise<(versions: Versions) => Answer | Promise<Answer>>): MergeRule => ({
  name,
  attempt: async (versions) => (await load())(versions),
});

/** One side is as it was: the other side's version is the merge. */
export const trivialRule = lazy("trivial", async () => (await import("./rules/identical.ts")).mergeTrivial);

/** Both sides made the same change, or one of them changed nothing but whitespace at the ends of lines. */
export const identicalRule = lazy("identical", async () => (await import("./rules/identical.ts")).mergeIdentical);

/** Files to which both sides add: the git attribute says so, or their kind does. The result has what both have, once. */
export const unionRule = lazy("union", async () => (await import("./rules/union.ts")).mergeByUnion);

/** Merges by what a file says rather than by its lines, with the merger its name asks for. */
export const structureRule = lazy("structured", async () => (await import("./rules/structure.ts")).mergeByStructure);

/**
 * Merges files without a merger of their own by lines. Never tried after another merger: where that one was unsure,
 * lines would only be bolder.
 */
export const linesRule = lazy("lines", async () => (await import("./rules/lines.ts")).mergeByLines);

/** Whether a text can be read in the data format its path asks for; true for formats that are not data. */
export async function readsAsData(path: string, content: string): Promise<boolean> {
  return (await import("./rules/structure.ts")).readsAsData(path, content);
}
