/** What git says is wrong with a path, as a closed list. Only `content` and `add-add` are ever resolved by rule. */
export const conflictKinds = [
  "content",
  "add-add",
  "modify-delete",
  "rename",
  "binary",
  "submodule",
  "symlink",
  "mode",
  "file-directory",
  "other",
] as const;
export type ConflictKind = (typeof conflictKinds)[number];

/** One version of a path: `mode` as git writes it (`100644`, `100755`, `120000`, `160000`). */
export interface PathVersion {
  readonly mode: string;
  readonly oid: string;
}

/** A path that git could not merge. A version is null where that side does not have the path. */
export interface Conflict {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly base: PathVersion | null;
  readonly ours: PathVersion | null;
  readonly theirs: PathVersion | null;
  /** Git's own words. */
  readonly message: string;
}
