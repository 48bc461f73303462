/** The use cases about checks that the engine answers, loaded when called. */
export const completionUseCases = {
  "done.request": async () => (await import("./checks.ts")).requestDone,
  "done.follow": async () => (await import("./checks.ts")).followCheck,
  "done.status": async () => (await import("./checks.ts")).checkStatus,
  "gate.run": async () => (await import("./checks.ts")).requestGates,
  "gate.verify": async () => (await import("./checks.ts")).requestVerify,
} as const;
