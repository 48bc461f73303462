import { discoveryCategories } from "../../../../domain/coordination/discovery.ts";
import type { Command } from "../../command.ts";

/** `ov discover`: a team that only looks. */
export const discoverCommand: Command = {
  name: "discover",
  summary: "Let a team get to know the code base and write down what it found",
  details: `Starts a coordinator that explores: ${discoveryCategories.join(", ")}. Nothing is built.`,
  group: "Operate",
  flags: [
    { name: "skip", value: "a,b", type: "list", summary: "Categories to leave out" },
    { name: "name", value: "name", summary: 'Its name (default: "discover-coordinator")' },
    { name: "runtime", value: "name", summary: "Agent CLI to run" },
    { name: "model", value: "name", summary: "Model to ask the runtime for" },
    { name: "attach", negatable: true, summary: "Follow its output until Ctrl-C" },
    { name: "watchdog", summary: "Accepted for older scripts: the engine's watchdog always looks after its agents" },
    { name: "task-id", value: "id", summary: "Accepted for older scripts", hidden: true },
  ],
  examples: [{ line: "ov discover --skip config,implicit", does: "explores the other four" }],
  run: async () => (await import("../supervisor.ts")).discover,
};
