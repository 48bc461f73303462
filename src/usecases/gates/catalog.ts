/** The use cases about gates, loaded when called. */
export const gateUseCases = {
  "gate.list": async () => (await import("./read-gates.ts")).listGateResults,
  "gate.log": async () => (await import("./read-gates.ts")).showGateResult,
  "gate.receipt": async () => (await import("./read-gates.ts")).showReceipt,
} as const;
