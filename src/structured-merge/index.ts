/**
 * The only file of this folder that the rest of the program imports. Every rule loads its merger when it is first asked,
 * so importing this file is cheap.
 */
import type { MergeRule } from "./versions.ts";

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
} from "./data/edit-json.ts";
export { languageOf, type Regeneration, regenerationFor } from "./file-format.ts";
export { matches as matchingPlaces } from "./lines/align.ts";
export { type Piece, piecesOf } from "./lines/conflict-pieces.ts";
export { hasConflictMarkers } from "./lines/conserved-lines.ts";
export { plainOf } from "./plain-text.ts";
export { type Answer, escalate, type MergeRule, resolved, skip, type Versions } from "./versions.ts";

/** One side is as it was: the other side's version is the merge. */
export const trivialRule: MergeRule = {
  name: "trivial",
  attempt: async (versions) => (await import("./rules/identical.ts")).mergeTrivial(versions),
};

/** Both sides made the same change, or one of them changed nothing but whitespace at the ends of lines. */
export const identicalRule: MergeRule = {
  name: "identical",
  attempt: async (versions) => (await import("./rules/identical.ts")).mergeIdentical(versions),
};

/** Files to which both sides add: the git attribute says so, or their kind does. The result has what both have, once. */
export const unionRule: MergeRule = {
  name: "union",
  attempt: async (versions) => (await import("./rules/union.ts")).mergeByUnion(versions),
};

/** Merges by what a file says rather than by its lines, with the merger its name asks for. */
export const structureRule: MergeRule = {
  name: "structured",
  attempt: async (versions) => (await import("./rules/structure.ts")).mergeByStructure(versions),
};

/**
 * Merges by lines what no merger understands. Never tried on a format with a merger of its own: where that one was
 * unsure, lines would only be bolder.
 */
export const linesRule: MergeRule = {
  name: "lines",
  attempt: async (versions) => (await import("./rules/lines.ts")).mergeByLines(versions),
};

/** Whether a text can be read in the data format its path asks for; true for formats that are not data. */
export async function readsAsData(path: string, content: string): Promise<boolean> {
  return (await import("./rules/structure.ts")).readsAsData(path, content);
}
