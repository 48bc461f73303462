/** The use cases about hooks of coding agents, loaded when called. */
export const hookUseCases = {
  "hook.report": async () => (await import("./report.ts")).reportHook,
  "hook.denied": async () => (await import("./denied.ts")).recordDenial,
} as const;
