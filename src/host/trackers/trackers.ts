import { statSync } from "node:fs";
import { join } from "node:path";
import type { ExternalTracker, TrackerPresence } from "../../domain/tracker/tracker.ts";
import type { Tracker, Trackers } from "../../ports/tracker.ts";
import { type AnswerForm, isObject, tasksIn } from "./answer.ts";
import { findProgram, runProgram, type TrackerPlace } from "./program.ts";

/** The external trackers that a project has files of, or that this environment has the program of. */
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

interface Adapter {
  readonly directory: string;
  readonly program: string;
  readonly open: (place: TrackerPlace) => Tracker;
}

const beadsProgram = "bd";

/** Beads, asked through `bd`. */
const beads = (place: TrackerPlace): Tracker => ({
  ready: async () => {
    const answer = await runProgram({ tracker: "beads", program: beadsProgram, args: ["ready", "--json"] }, place);
    return answer.ok ? tasksIn(answer.value, beadsReady) : answer;
  },
});

/** A bare array and nothing else. */
export const beadsReady: AnswerForm = {
  command: "bd ready --json",
  startsAt: () => [0],
  list: (document) => (Array.isArray(document) ? document : undefined),
  typeKey: "issue_type",
};

const seedsProgram = "sd";

/** Seeds, asked through `sd`. */
const seeds = (place: TrackerPlace): Tracker => ({
  ready: async () => {
    const answer = await runProgram({ tracker: "seeds", program: seedsProgram, args: ["ready", "--json"] }, place);
    return answer.ok ? tasksIn(answer.value, seedsReady) : answer;
  },
});

/** `{"success":true,"command":"ready","issues":[...]}`, perhaps with other words before it. */
export const seedsReady: AnswerForm = {
  command: "sd ready --json",
  startsAt: brackets,
  list: (document) => (isObject(document) && Array.isArray(document.issues) ? document.issues : undefined),
  typeKey: "type",
};

/** Noise such as `[warn]` begins like a document, too. After so many brackets we stop looking for one. */
const mostBrackets = 20;

/** The first bracket of all, and those with which a line begins. */
function brackets(out: string): readonly number[] {
  const first = out.search(/[{[]/);
  const lines = out.matchAll(/^[{[]/gm).take(mostBrackets);
  return [...new Set([...(first < 0 ? [] : [first]), ...lines.map(({ index }) => index)])];
}

const adapters: Readonly<Record<ExternalTracker, Adapter>> = {
  beads: { directory: ".beads", program: beadsProgram, open: beads },
  seeds: { directory: ".seeds", program: seedsProgram, open: seeds },
};
