export const eventUseCases = {
  "event.record": async () => (await import("./record-hook-event.ts")).recordHookEvent,
} as const;
