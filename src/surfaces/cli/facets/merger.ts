import type { Triple } from "../../../domain/merge/ladder/triple.ts";

/** What became of three versions of a file. */
export type FileMerge =
  | { readonly kind: "merged"; readonly content: string; readonly strategy: string }
  | { readonly kind: "refused"; readonly reason: string };

/** Merging one file without a project or a repository around it. */
export interface MergerFacet {
  /** Climbs all rungs that need nothing but the three texts. */
  mergeFile(triple: Omit<Triple, "kind">): Promise<FileMerge>;
}
