/** The use cases about who asks, loaded when called. */
export const identityUseCases = {
  "identity.self": async () => (await import("./self.ts")).self,
  "identity.tool": async () => (await import("./may-use-tool.ts")).mayUseTool,
  "identity.check": async () => (await import("./require-operator.ts")).checkCaller,
  "identity.requireOperator": async () => (await import("./require-operator.ts")).requireOperator,
  "identity.mayWrite": async () => (await import("./may-write.ts")).mayWrite,
} as const;
