import { agentInstructions } from "../host/agent-instructions.ts";
import { placeOvShim, selfCommand } from "../host/own-program.ts";
import type { Instructions } from "../ports/instructions.ts";
import { policyOf } from "./agent-guard.ts";
import type { Project } from "./project.ts";
import { builtInTexts } from "./role-texts.ts";

/** The instructions of the agents of a project. */
export const projectInstructions = (project: Project): Instructions =>
  agentInstructions({
    root: project.root,
    state: project.dir,
    settings: project.config,
    builtIn: builtInTexts,
    policyOf: (role, agent) => policyOf(project, role, agent),
    self: selfCommand(),
    placeProgram: () => placeOvShim(project.dir),
  });
