/** The operations on hooks of coding agents, loaded when called. */
export const hookUseCases = {
  "hook.report": async () => (await import("./report.ts")).reportHook,
  "hook.denied": async () => (await import("./denied.ts")).recordDenial,
  "hooks.install": async () => (await import("./settings.ts")).install,
  "hooks.uninstall": async () => (await import("./settings.ts")).uninstall,
  "hooks.status": async () => (await import("./settings.ts")).status,
} as const;
