/** The use cases about specifications, loaded when called. */
export const specUseCases = {
  "spec.write": async () => (await import("./write-spec.ts")).writeSpec,
  "spec.read": async () => (await import("./read-spec.ts")).readSpec,
} as const;
