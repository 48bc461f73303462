import { statSync } from "node:fs";
import { join } from "node:path";
import { no, ok, type Result } from "../../domain/result.ts";
import type { ExternalTracker, TrackerPresence, TrackerRefusal, TrackerTask } from "../../domain/tracker/tracker.ts";
import type { Tracker, Trackers } from "../../ports/tracker.ts";
import { findProgram, type ProgramAnswer, runProgram, type TrackerPlace } from "./program.ts";

/** The external trackers that a project has files of, or that this environment has the program of. */
export function hostTrackers(place: TrackerPlace): Trackers {
  const presence = ({ directory, program }: Adapter): TrackerPresence => ({
    files: isDirectory(join(place.root, directory)),
    program: findProgram(program, place.env) !== undefined,
  });
  return {
    facts: () => ({ beads: presence(adapters.beads), seeds: presence(adapters.seeds) }),
    open: (name) => opened(name, place),
  };
}

function opened(tracker: ExternalTracker, place: TrackerPlace): Tracker {
  const { program, ready } = adapters[tracker];
  return {
    ready: async () => {
      const answer = await runProgram({ tracker, program, args: ["ready", "--json"] }, place);
      return answer.ok ? tasksIn(answer.value, ready) : answer;
    },
  };
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

interface Adapter {
  readonly directory: string;
  readonly program: string;
  /** How the program answers `ready --json`. */
  readonly ready: AnswerForm;
}

/** A bare array and nothing else. */
export const beadsReady: AnswerForm = {
  command: "bd ready --json",
  startsAt: () => [0],
  list: (document) => (Array.isArray(document) ? document : undefined),
  typeKey: "issue_type",
};

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
  beads: { directory: ".beads", program: "bd", ready: beadsReady },
  seeds: { directory: ".seeds", program: "sd", ready: seedsReady },
};

/** How one tracker writes lists of tasks. */
export interface AnswerForm {
  /** The command line, for the message about a failure. */
  readonly command: string;
  /** Where in its output the document may begin. */
  readonly startsAt: (out: string) => readonly number[];
  /** The list inside of the document; undefined when there is none. */
  readonly list: (document: unknown) => readonly unknown[] | undefined;
  /** The name it has for the type of a task. */
  readonly typeKey: string;
}

/** The tasks in what a program said, or why there are none to be had. */
export function tasksIn(answer: ProgramAnswer, form: AnswerForm): Result<readonly TrackerTask[], TrackerRefusal> {
  const { command } = form;
  const document = documentIn(answer.out, form);
  const spoken = spokenError(document);
  if (answer.code !== 0) {
    const how = answer.code === null ? "was ended by a signal" : `exited ${answer.code}`;
    const words = spoken ?? firstLine(answer.err) ?? firstLine(answer.out);
    return no({ kind: "program-failed", command, problem: words === undefined ? how : `${how}: ${words}` });
  }
  if (spoken !== undefined) return no({ kind: "program-failed", command, problem: `answered: ${spoken}` });
  const malformed = (problem: string) => no<TrackerRefusal>({ kind: "malformed-output", command, problem });
  if (answer.out.trim() === "") return malformed("it said nothing");
  if (document === undefined) return malformed("that is not JSON");
  const list = form.list(document);
  if (list === undefined) return malformed("the list is not where it should be");
  const tasks = list.map((item) => taskFrom(item, form.typeKey));
  const known = tasks.filter((task) => task !== undefined);
  return known.length === tasks.length ? ok(known) : malformed("a task in it has no id");
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function documentIn(out: string, { startsAt }: AnswerForm): unknown {
  for (const start of startsAt(out)) {
    try {
      return JSON.parse(out.slice(start));
    } catch {
      // Noise that only looked like a beginning: the next place may be the right one, and none at all is told above.
    }
  }
  return undefined;
}

/** What a document says that reports a failure instead of an answer. */
function spokenError(document: unknown): string | undefined {
  if (!isObject(document) || document.success !== false) return undefined;
  return (typeof document.error === "string" ? firstLine(document.error) : undefined) ?? "it did not succeed";
}

function taskFrom(item: unknown, typeKey: string): TrackerTask | undefined {
  if (!isObject(item) || typeof item.id !== "string" || item.id === "") return undefined;
  const { id, title, status, priority, [typeKey]: type } = item;
  return {
    id,
    title: typeof title === "string" ? title : "",
    status: typeof status === "string" ? status : "open",
    priority: typeof priority === "number" ? priority : null,
    type: typeof type === "string" && type !== "" ? type : "unknown",
  };
}

const longest = 200;

function firstLine(text: string): string | undefined {
  const line = text
    .split("\n")
    .map((each) => each.trim())
    .find((each) => each !== "");
  return line === undefined || line.length <= longest ? line : `${line.slice(0, longest)}...`;
}
