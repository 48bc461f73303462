/** The use cases of the adviser, loaded when called. */
export const adviseUseCases = {
  "advise.plan": async () => (await import("./advise-plan.ts")).advisePlan,
} as const;
