/** The operations on which programs of the repository may run, loaded when called. */
export const trustOperations = {
  "trust.list": async () => (await import("./trust.ts")).list,
  "trust.add": async () => (await import("./trust.ts")).add,
  "trust.remove": async () => (await import("./trust.ts")).remove,
  "trust.check": async () => (await import("./trust.ts")).check,
} as const;
