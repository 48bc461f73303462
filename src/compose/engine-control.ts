import { engineControl } from "../host/engine-door/control.ts";
import type { EngineControl } from "../ports/engine-control.ts";
import { doorOf, keeperOptions, leaseMsFor, type Project } from "./project.ts";

export const projectEngine = (project: Project, run: EngineControl["run"]): EngineControl =>
  engineControl({
    root: project.root,
    door: doorOf(project),
    keeper: keeperOptions(project),
    env: project.env,
    replacedWithinMs: 2 * leaseMsFor(project.env),
    run,
  });
