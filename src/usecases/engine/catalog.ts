/** The operations about the engine of a project, loaded when called. */
export const engineOperations = {
  "engine.start": async () => (await import("./control.ts")).startEngine,
  "engine.status": async () => (await import("./control.ts")).engineStatus,
  "engine.stop": async () => (await import("./control.ts")).stopEngine,
  "engine.install": async () => (await import("./control.ts")).installEngine,
  "engine.runUntilIdle": async () => (await import("./control.ts")).runUntilIdle,
  "engine.readWorkload": async () => (await import("./engine-work.ts")).readWorkload,
} as const;
