import { relative } from "node:path";

/** What a set-up found and did, path by path, relative to the root. */
export interface Ledger {
  readonly created: readonly string[];
  readonly unchanged: readonly string[];
  note(path: string, made: boolean): void;
}

export function makeLedger(root: string): Ledger {
  const created: string[] = [];
  const unchanged: string[] = [];
  return {
    created,
    unchanged,
    note: (path, made) => {
      (made ? created : unchanged).push(relative(root, path));
    },
  };
}
