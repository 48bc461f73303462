/** The use cases about checks that the engine answers, loaded when called. */
export const completionUseCases = {
  "done.request": async () => (await import("./request-done.ts")).requestDone,
  "done.follow": async () => (await import("./check-status.ts")).followCheck,
  "done.status": async () => (await import("./check-status.ts")).checkStatus,
  "gate.run": async () => (await import("./request-gates.ts")).requestGates,
  "gate.verify": async () => (await import("./request-gates.ts")).requestVerify,
} as const;
