export const eventUseCases = {
  "event.record": async () => (await import("./record-event.ts")).recordEvent,
} as const;
