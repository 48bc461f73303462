import { hostTrackers } from "../host/trackers/trackers.ts";
import type { TrackerFacet } from "../surfaces/cli/facets/trackers.ts";
import { readTracker } from "../usecases/coordinators/read-tracker.ts";
import type { Project } from "./project.ts";

/** The trackers of this project, asked with the rights and the PATH of whoever typed the command. */
export function makeTrackerFacet({ root, env, config }: Project): TrackerFacet {
  const terms = { backend: config.taskTracker.backend, counts: config.coordinator.exitTriggers.taskTrackerEmpty };
  return { reading: () => readTracker(hostTrackers({ root, env }), terms) };
}
