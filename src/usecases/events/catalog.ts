export const eventUseCases = {
  "event.record": async () => (await import("./record-event.ts")).recordHookEvent,
} as const;
