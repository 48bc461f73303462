import { agentInstructions } from "../host/agent-instructions.ts";
import type { Instructions } from "../ports/instructions.ts";
import { policyOf } from "./agent-guard.ts";
import { placeOvShim } from "./ov-shim.ts";
import type { Project } from "./project.ts";
import { builtInTexts } from "./role-texts.ts";
import { selfCommand } from "./self.ts";

/** The instructions of the agents of a project. */
export const projectInstructions = (project: Project): Instructions =>
  agentInstructions({
    root: project.root,
    state: project.dir,
    settings: project.config,
    builtIn: builtInTexts,
    policyOf: (role, agent) => policyOf(project, role, agent),
    self: selfCommand(),
    placeProgram: () => placeOvShim(project),
  });
