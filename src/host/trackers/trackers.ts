import { join } from "node:path";
import { no, ok, type Result } from "../../domain/result.ts";
import type { ExternalTracker, TrackerPresence, TrackerRefusal, TrackerTask } from "../../domain/tracker/tracker.ts";
import type { Tracker, Trackers } from "../../ports/tracker.ts";
import { statIfThere } from "../file-access.ts";
import { endTree } from "../linux/end-tree.ts";
import { markedAsGate } from "../linux/mark.ts";
import { identityOf } from "../linux/process-table.ts";

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

const isDirectory = (path: string): boolean => statIfThere(path)?.isDirectory() ?? false;

interface Adapter {
  readonly directory: string;
  readonly program: string;
  /** How the program answers `ready --json`. */
  readonly ready: AnswerForm;
}

/** The whole answer must be an array. */
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

/** Where the program of a tracker runs, and for how long at most. */
interface TrackerPlace {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits?: TrackerLimits;
}

interface TrackerLimits {
  readonly timeMs: number;
  readonly outputBytes: number;
}

interface TrackerCommand {
  readonly tracker: ExternalTracker;
  readonly program: string;
  readonly args: readonly string[];
}

export interface ProgramAnswer {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The path of a program in this environment. */
const findProgram = (program: string, env: TrackerPlace["env"]): string | undefined =>
  Bun.which(program, { PATH: env.PATH ?? "" }) ?? undefined;

/**
 * Runs the program of a tracker in the project's root until it ends or has used up its time or its room for words; then
 * it and all that it started is ended. A background process that outlives a program which ended by itself is the
 * tracker's own affair: it is neither ended nor waited for, though it may hold the output open.
 */
async function runProgram(
  { tracker, program, args }: TrackerCommand,
  { root, env, limits = usualLimits }: TrackerPlace,
): Promise<Result<ProgramAnswer, TrackerRefusal>> {
  const path = findProgram(program, env);
  if (path === undefined) return no({ kind: "program-missing", tracker, program });
  const command = [program, ...args].join(" ");
  const failed = (problem: string) => no<TrackerRefusal>({ kind: "program-failed", command, problem });
  const child = start([path, ...args], root, env);
  if (!child.ok) return failed(`could not be started: ${child.refusal}`);
  const { stdout, stderr, exited, pid } = child.value;
  const identity = identityOf(pid);
  const out = firstBytes(stdout, limits.outputBytes);
  const err = firstBytes(stderr, limits.outputBytes);
  const time = after(limits.timeMs);
  const ending = await Promise.race([exited.then(() => "ended" as const), out.overflowed, err.overflowed, time.over]);
  time.cancel();
  if (ending !== "ended" && identity !== undefined) await endTree(identity, graceMs);
  const [said, complained] = await Promise.all([out.text(lingerMs), err.text(lingerMs)]);
  if (ending === "time over") return failed(`did not end within ${limits.timeMs / 1000} s`);
  if (said === undefined || complained === undefined) return failed(`said more than ${limits.outputBytes} bytes`);
  const code = child.value.signalCode === null ? child.value.exitCode : null;
  const unstartable = code === 126 || code === 127 ? shellWords.exec(complained)?.[1] : undefined;
  if (unstartable !== undefined) return failed(`could not be started: ${unstartable}`);
  return ok({ code, out: said, err: complained });
}

/** Long enough for a list of thousands of tasks. A user who typed a command does not wait longer than this. */
const usualLimits: TrackerLimits = { timeMs: 10_000, outputBytes: 8 * 1024 * 1024 };

/** For a program that is asked to end. */
const graceMs = 500;

/** What a program wrote before it ended is in its pipe by then; only a process that it left behind keeps that open. */
const lingerMs = 200;

/** What the shell that puts the mark on a program says when it cannot start that program. */
const shellWords = /^ov-marked: (?:line )?\d+: (?:exec: )?(.+)/;

/**
 * Starts a tracker in a session of its own, so that ending it cannot reach us. Agents can write its files, and the
 * programs it runs from them, so it must never pass for the operator.
 */
function start(cmd: readonly string[], cwd: string, env: TrackerPlace["env"]) {
  try {
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    return ok(Bun.spawn({ cmd: markedAsGate(cmd), cwd, env: withoutOurs(env), stdio, detached: true }));
  } catch (error) {
    // No permission, or an interpreter that is not there: the system's word for it is all there is to tell.
    if (error instanceof Error && "code" in error) return no(String(error.code));
    throw error;
  }
}

/** The person's own settings of the tracker must reach it; a token of ours is nothing for a program of others. */
const withoutOurs = (env: TrackerPlace["env"]): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("OVERSTORY")));

function after(ms: number): { readonly over: Promise<"time over">; cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<"time over">();
  const timer = setTimeout(() => resolve("time over"), ms);
  return { over: promise, cancel: () => clearTimeout(timer) };
}

/** The beginning of what a program says, kept as it comes. */
interface FirstBytes {
  /** Settles only when there was more than may be kept. */
  readonly overflowed: Promise<"overflow">;
  /** What was said until the stream ended, or until this much time has passed; undefined when it was too much. */
  text(waitMs: number): Promise<string | undefined>;
}

/** Reads a stream until it ends or holds more than `limit` bytes. */
function firstBytes(stream: ReadableStream<Uint8Array>, limit: number): FirstBytes {
  const { promise: overflowed, resolve: overflow } = Promise.withResolvers<"overflow">();
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let kept = 0;
  const read = async (): Promise<void> => {
    while (kept <= limit) {
      const { value, done } = await reader.read();
      if (done) return;
      chunks.push(value);
      kept += value.byteLength;
    }
    overflow("overflow");
  };
  const whole = read();
  return {
    overflowed,
    text: async (waitMs) => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, waitMs);
      await Promise.race([whole, late]);
      clearTimeout(timer);
      await reader.cancel();
      return kept > limit ? undefined : Buffer.concat(chunks).toString("utf8");
    },
  };
}
