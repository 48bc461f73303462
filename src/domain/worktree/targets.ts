/** What `ov clean` can be asked to remove. */
export const cleanTargets = [
  "worktrees",
  "branches",
  "mail",
  "sessions",
  "metrics",
  "logs",
  "agents",
  "specs",
  "trash",
  "rescue",
] as const;
export type CleanTarget = (typeof cleanTargets)[number];

/** Rescued work is asked for by name only: it is there because somebody forced its removal before. */
export const allTargets: readonly CleanTarget[] = cleanTargets.filter((target) => target !== "rescue");

/** Directories of the project's state that belong to a target; what cannot be made again is moved to the backup. */
export const targetDirs: Readonly<Partial<Record<CleanTarget, { readonly dir: string; readonly backUp: boolean }>>> = {
  mail: { dir: "mail-blobs", backUp: true },
  logs: { dir: "logs", backUp: false },
  agents: { dir: "agents", backUp: true },
  specs: { dir: "specs", backUp: true },
  trash: { dir: "trash", backUp: false },
};
