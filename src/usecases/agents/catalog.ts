export const agentUseCases = {
  "agent.sling": async () => (await import("./sling.ts")).sling,
} as const;
