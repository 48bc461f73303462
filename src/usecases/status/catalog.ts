/** The use cases that tell where things stand, loaded when called. */
export const statusUseCases = {
  "status.overview": async () => (await import("./overview.ts")).overview,
  "status.agent": async () => (await import("./agent-detail.ts")).agentDetail,
  "status.values": async () => (await import("./values.ts")).values,
  "status.prime": async () => (await import("./prime.ts")).prime,
} as const;
