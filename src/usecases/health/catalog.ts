export const healthUseCases = {
  "health.assess": async () => (await import("./assess-health.ts")).assessHealth,
} as const;
