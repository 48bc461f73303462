/** The use cases about hooks of interactive sessions, loaded when called. */
export const hookUseCases = {
  "hook.report": async () => (await import("./report.ts")).reportHook,
} as const;
