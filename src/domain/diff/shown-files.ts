/** A file that differs between two commits, as git counts it. */
export interface FileChange {
  readonly path: string;
  /** Where it was before it was renamed; null for any other file. */
  readonly oldPath: string | null;
  readonly status: "added" | "deleted" | "modified" | "renamed" | "type changed";
  /** Lines that came and went; null for a file that is no text. */
  readonly added: number | null;
  readonly removed: number | null;
  /** The ids of its contents; null where there is none. */
  readonly oldBlob: string | null;
  readonly newBlob: string | null;
}

export const closedReasons = ["binary", "generated", "large", "many"] as const;
export type ClosedReason = (typeof closedReasons)[number];

/** A longer change of one file is opened on request. */
export const openLines = 4_000;
/** All files that are open from the start have together at most so many changed lines. */
export const openTotal = 40_000;
/** A longer change is not shown in the page at all. */
export const mostLines = 100_000;

/**
 * Why each file is closed when a diff is opened; null for those that are open. Files are looked at in their order, so that
 * the first ones of a diff that is too long are open.
 */
export function closedFiles(
  files: readonly FileChange[],
  isGenerated: (path: string) => boolean,
): readonly (ClosedReason | null)[] {
  let open = 0;
  return files.map(({ path, added, removed }) => {
    if (added === null || removed === null) return "binary";
    const lines = added + removed;
    if (isGenerated(path) || looksGenerated.test(path)) return "generated";
    if (lines > openLines) return "large";
    if (open + lines > openTotal) return "many";
    open += lines;
    return null;
  });
}

/** Names of files that programs write and people do not read. */
const looksGenerated =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Gemfile\.lock|composer\.lock|go\.sum|flake\.lock)$|\.(min\.(js|css)|map|snap|pb\.go)$|_pb2\.py$/;

/** What a reviewer should know about a file before reading it, in a few words each; the worst first. */
export function risksOf(
  { status, added, removed }: Pick<FileChange, "status" | "added" | "removed">,
  { outside, closed }: { readonly outside: boolean; readonly closed: ClosedReason | null },
): readonly string[] {
  const lines = (added ?? 0) + (removed ?? 0);
  return [
    ...(outside ? ["outside its scope"] : []),
    ...(status === "deleted" ? ["deleted"] : []),
    ...(closed === "generated" ? ["generated"] : []),
    ...(closed === "binary" ? ["binary"] : []),
    ...(lines > largeChange && closed !== "generated" ? ["large change"] : []),
  ];
}

const largeChange = 400;
