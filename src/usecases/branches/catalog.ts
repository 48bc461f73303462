/** The operations about branches of the repository, loaded when called. */
export const branchOperations = {
  "branch.find": async () => (await import("./branches.ts")).findBranch,
  "branch.check": async () => (await import("./branches.ts")).checkBranch,
  "branch.list": async () => (await import("./branches.ts")).listBranches,
  "branch.listChanges": async () => (await import("./list-changes.ts")).listChanges,
  "branch.listMovedFiles": async () => (await import("./branches.ts")).listMovedFiles,
  "branch.listStaleSubmodules": async () => (await import("./branches.ts")).listStaleSubmodules,
} as const;
