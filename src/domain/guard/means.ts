import type { ParseShell } from "./shell/tree.ts";

/** What the guard must know of the machine. Asked with absolute paths. */
export interface Places {
  /** Where a path leads when links and `..` are followed as far as it exists. */
  realPath(path: string): string;
  readonly home: string | undefined;
  /** Directories in which everybody may leave things. */
  readonly temporary: readonly string[];
}

/** What the guard looks with; both only tell what is. */
export interface GuardMeans {
  readonly parse: ParseShell;
  readonly places: Places;
}
