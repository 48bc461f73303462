import { engineControl } from "../host/engine-contact/control.ts";
import type { EngineControl } from "../ports/engine-contact.ts";
import { contactOf, keeperOptions, leaseMsFor, type Project } from "./project.ts";

export const projectEngine = (project: Project, run: EngineControl["run"]): EngineControl =>
  engineControl({
    root: project.root,
    contact: contactOf(project),
    keeper: keeperOptions(project),
    env: project.env,
    replacedWithinMs: 2 * leaseMsFor(project.env),
    run,
  });
