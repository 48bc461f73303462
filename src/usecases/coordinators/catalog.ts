/** The use cases about agents that lead a run, loaded when called. */
export const coordinatorUseCases = {
  "coordinator.start": async () => (await import("./start.ts")).startCoordinator,
  "coordinator.checkStart": async () => (await import("./plan-start.ts")).checkStart,
  "coordinator.find": async () => (await import("./find.ts")).findCoordinatorCommand,
  "coordinator.status": async () => (await import("./status.ts")).coordinatorStatus,
  "coordinator.finish": async () => (await import("./finish.ts")).finishRun,
  "coordinator.remaining": async () => (await import("./status.ts")).remainingWork,
  "coordinator.answer": async () => (await import("./answer.ts")).findAnswer,
  "coordinator.followAnswer": async () => (await import("./answer.ts")).followAnswer,
  "coordinator.followRemaining": async () => (await import("./status.ts")).followRemaining,
  "coordinator.output": async () => (await import("./status.ts")).readOutput,
  "coordinator.check": async () => (await import("./check-complete.ts")).checkComplete,
  "coordinator.checkTriggers": async () => (await import("./check-complete.ts")).checkTriggers,
} as const;
