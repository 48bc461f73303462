export const agentUseCases = {
  "agent.sling": async () => (await import("./sling.ts")).sling,
  "agent.plan": async () => (await import("./sling.ts")).drySling,
  "agent.recover": async () => (await import("./recover.ts")).recover,
  "agent.release": async () => (await import("./release-agent.ts")).releaseAgentCommand,
  "agent.stop": async () => (await import("./stop.ts")).stopAgent,
  "agent.stopProgress": async () => (await import("./stop.ts")).stopProgress,
  "agent.nudge": async () => (await import("./nudge.ts")).nudgeAgent,
  "agent.pause": async () => (await import("./pause.ts")).pauseAgent,
  "agent.resume": async () => (await import("./resume.ts")).resumeAgent,
  "agent.discover": async () => (await import("./discover.ts")).discoverAgents,
  "agent.checkpoint": async () => (await import("./checkpoint.ts")).checkpoint,
} as const;
