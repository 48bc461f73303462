/** The operations of the guard of agents' tools, loaded when called. */
export const guardOperations = {
  "guard.judge": async () => (await import("./judge.ts")).judge,
} as const;
