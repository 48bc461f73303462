/** The operations on what agents are told, loaded when called. */
export const promptOperations = {
  "prompt.show": async () => (await import("./prompts.ts")).show,
  "prompt.render": async () => (await import("./prompts.ts")).render,
  "prompt.compare": async () => (await import("./prompts.ts")).compare,
  "prompt.begin": async () => (await import("./prompts.ts")).begin,
  "prompt.showGiven": async () => (await import("./prompts.ts")).showGiven,
  "prompt.showKept": async () => (await import("./prompts.ts")).showKept,
} as const;
