/** The operations on the project as a whole, loaded when called. */
export const projectOperations = {
  "project.update": async () => (await import("./update.ts")).update,
} as const;
