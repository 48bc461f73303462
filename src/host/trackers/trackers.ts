import { statSync } from "node:fs";
import { join } from "node:path";
import type { ExternalTracker, TrackerPresence } from "../../domain/tracker/tracker.ts";
import type { Tracker, Trackers } from "../../ports/tracker.ts";
import { beads, beadsProgram } from "./beads.ts";
import { findProgram, type TrackerPlace } from "./program.ts";
import { seeds, seedsProgram } from "./seeds.ts";

interface Adapter {
  readonly directory: string;
  readonly program: string;
  readonly open: (place: TrackerPlace) => Tracker;
}

const adapters: Readonly<Record<ExternalTracker, Adapter>> = {
  beads: { directory: ".beads", program: beadsProgram, open: beads },
  seeds: { directory: ".seeds", program: seedsProgram, open: seeds },
};

/** The external trackers as they are found in a project, by whoever has this environment. */
export function hostTrackers(place: TrackerPlace): Trackers {
  const presence = ({ directory, program }: Adapter): TrackerPresence => ({
    files: isDirectory(join(place.root, directory)),
    program: findProgram(program, place.env) !== undefined,
  });
  return {
    facts: () => ({ beads: presence(adapters.beads), seeds: presence(adapters.seeds) }),
    open: (name) => adapters[name].open(place),
  };
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
