/** The operations on the settings of a project, loaded when called. */
export const configOperations = {
  "config.get": async () => (await import("./config.ts")).get,
  "config.set": async () => (await import("./config.ts")).set,
  "config.list": async () => (await import("./config.ts")).list,
  "config.explain": async () => (await import("./config.ts")).explain,
  "config.validate": async () => (await import("./config.ts")).validate,
} as const;
