/** The runtimes by name alone: hot commands must know them without loading them. */
export const runtimeNames = ["claude", "scripted"] as const;
export type RuntimeName = (typeof runtimeNames)[number];
