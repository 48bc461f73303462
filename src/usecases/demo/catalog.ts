/** The operation of the demonstration, loaded when called. */
export const demoOperations = {
  "demo.play": async () => (await import("./play.ts")).play,
} as const;
