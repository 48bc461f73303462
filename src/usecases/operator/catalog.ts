/** The use cases of the person who answers for it all, loaded when called. */
export const operatorUseCases = {
  "operator.inbox": async () => (await import("./inbox.ts")).operatorInbox,
  "operator.decide": async () => (await import("./decide.ts")).decide,
} as const;
