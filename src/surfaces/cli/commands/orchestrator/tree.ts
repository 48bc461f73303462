import type { Command } from "../../command.ts";
import { headCommands } from "../coordinator/tree.ts";

/** `ov orchestrator`: an agent that leads coordinators in several repositories. */
export const orchestratorCommand: Command = {
  name: "orchestrator",
  summary: "Start, ask, follow and stop the agent that leads several repositories",
  details:
    "It starts nobody but coordinators, one in each repository it needs, with: ov --project <path> coordinator start.",
  group: "Operate",
  commands: headCommands("orchestrator"),
};
