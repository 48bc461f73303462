import type { RuntimeChoice } from "../ports/settings.ts";

/** The runtimes by name alone: hot commands must know them without loading them. */
export const runtimeNames = ["claude", "scripted"] as const;
export type RuntimeName = (typeof runtimeNames)[number];

/** What may be chosen for an agent. A runtime with several drivers offers all but the default under a longer name. */
export const runtimeChoices: readonly RuntimeChoice[] = [
  { name: "claude", runtime: "claude", driver: "stream-json" },
  { name: "claude:control", runtime: "claude", driver: "control" },
  { name: "scripted", runtime: "scripted", driver: "stream-json" },
  { name: "scripted:control", runtime: "scripted", driver: "control" },
];
