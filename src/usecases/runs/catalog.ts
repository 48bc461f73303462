/** The use cases about runs, loaded when called. */
export const runUseCases = {
  "run.list": async () => (await import("./read-runs.ts")).listRuns,
  "run.show": async () => (await import("./read-runs.ts")).showRun,
  "run.current": async () => (await import("./read-runs.ts")).showCurrentRun,
  "run.retarget": async () => (await import("./change-run.ts")).retargetRun,
  "run.complete": async () => (await import("./change-run.ts")).completeRun,
} as const;
