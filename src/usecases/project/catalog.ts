/** The operations on the project as a whole, loaded when called. */
export const projectOperations = {
  "project.init": async () => (await import("./init.ts")).init,
  "project.propose": async () => (await import("./facts.ts")).propose,
  "project.planSetUp": async () => (await import("./facts.ts")).planSetUp,
  "project.currentBranch": async () => (await import("./init.ts")).currentBranch,
  "project.update": async () => (await import("./update.ts")).update,
} as const;
