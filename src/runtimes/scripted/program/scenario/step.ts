import { isMap, type Node } from "yaml";
import { failureCauses } from "../../../../domain/turn/failure.ts";
import {
  anything,
  count,
  type Decode,
  defaulting,
  flag,
  list,
  type Notes,
  oneOf,
  optional,
  orTrue,
  record,
  refused,
  required,
  text,
  yes,
} from "./decode.ts";

export const killSignals = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGSTOP"] as const;

/** How a turn can fail that had begun: a program that cannot be started says nothing, and `result` is for the rest. */
export const sayableFailures = failureCauses.filter(
  (cause) => !["program", "busy", "guard", "worktree", "unknown"].includes(cause),
);

const defaultBigLine = 10 * 1024 * 1024;
const defaultWaitMs = 30_000;

/** What a request is answered with. */
const verdicts = ["allow", "deny"] as const;

const usage = optional(
  record({
    input: defaulting(count(), 100),
    output: defaulting(count(), 42),
    cacheRead: defaulting(count(), 30),
    cacheWrite: defaulting(count(), 20),
  }),
);
const command = { expect: defaulting(count({ max: 255 }), 0), allowFail: defaulting(flag, false), usage };
const limit = { resetInMs: optional(count()), retries: defaulting(count(), 0) };

/** Every step except `repeat`, which holds steps itself. The types are read off these decoders. */
const decoders = {
  say: record({ say: required(text), usage }),
  think: record({ think: required(text), usage }),
  tool: record({
    tool: required(
      record({
        name: required(text),
        input: defaulting(anything, {}),
        output: defaulting(text, ""),
        error: defaulting(flag, false),
      }),
    ),
    usage,
  }),
  mcp: record({
    mcp: required(record({ tool: required(text), arguments: defaulting(anything, {}) })),
    expect: optional(text),
    allowFail: defaulting(flag, false),
    usage,
  }),
  edit: record({ edit: required(edit()), usage }),
  shell: record({ shell: required(text), ...command }),
  commit: record({ commit: required(text), usage }),
  ov: record({ ov: required(wordsOrLine()), ...command }),
  sleep: record({ sleep: required(count()) }),
  hang: record({ hang: required(yes) }),
  closeStdout: record({ closeStdout: required(yes) }),
  ignoreSigterm: record({ ignoreSigterm: required(yes) }),
  child: record({
    child: required(
      record({ command: required(text), newSession: defaulting(flag, true), keepStdout: defaulting(flag, false) }),
    ),
    usage,
  }),
  exit: record({ exit: required(count({ max: 255 })) }),
  kill: record({ kill: required(oneOf(killSignals)) }),
  malformed: record({ malformed: required(text) }),
  split: record({ split: required(yes) }),
  bigLine: record({ bigLine: required(orTrue(count({ min: 1024 }), defaultBigLine)) }),
  flood: record({ flood: required(record({ events: required(count()), bytes: defaulting(count(), 100) })) }),
  rateLimit: record({ rateLimit: required(orTrue(record(limit), { resetInMs: undefined, retries: 0 })) }),
  apiError: record({
    apiError: required(
      record({
        status: required(count({ min: 400, max: 599 })),
        error: optional(text),
        retries: defaulting(count(), 0),
        recover: defaulting(flag, false),
      }),
    ),
  }),
  fail: record({ fail: required(oneOf(sayableFailures)) }),
  newSessionId: record({ newSessionId: required(yes) }),
  noInit: record({ noInit: required(yes) }),
  waitFor: record({
    waitFor: required(record({ file: required(text), timeoutMs: defaulting(count(), defaultWaitMs) })),
  }),
  hear: record({
    hear: required(record({ expect: required(text), timeoutMs: defaulting(count(), defaultWaitMs) })),
  }),
  touch: record({ touch: required(text) }),
  result: record({ result: required(record({ text: required(text), error: defaulting(flag, false) })) }),
  ask: record({
    ask: required(
      record({ tool: required(text), input: defaulting(anything, {}), expect: defaulting(oneOf(verdicts), "allow") }),
    ),
  }),
  readFile: record({ readFile: required(text), expect: optional(text) }),
  writeFile: record({
    writeFile: required(record({ file: required(text), text: required(text) })),
    expect: defaulting(oneOf(verdicts), "allow"),
  }),
  input: record({ input: required(record({ expect: required(text) })) }),
};

type Decoded<D> = D extends Decode<infer T> ? T : never;
type Plain = {
  [W in keyof typeof decoders]: { readonly kind: W; readonly line: number } & Decoded<(typeof decoders)[W]>;
};
interface Repeat {
  readonly kind: "repeat";
  readonly line: number;
  readonly repeat: { readonly times: number; readonly do: readonly Step[] };
}

/** One thing the agent does. `line` is where the scenario says so. */
export type Step = Plain[keyof Plain] | Repeat;
export type StepOf<K extends Step["kind"]> = Extract<Step, { kind: K }>;

/** Steps that are about the start of the turn and therefore must come first. */
const opening: readonly string[] = ["newSessionId", "noInit"] satisfies Step["kind"][];

/** A list of steps. Besides each step, their order is checked: nothing may stand where it could never run. */
export const steps: Decode<readonly Step[]> = (raw, notes) => {
  const decoded = list(step)(raw, notes);
  if (decoded === refused) return refused;
  const before = notes.problems.length;
  let opened = false;
  let ended: Step | undefined;
  for (const one of decoded) {
    if (ended !== undefined)
      note(notes, one, `can never run: the turn ends with "${ended.kind}" on line ${ended.line}`);
    if (opened && opening.includes(one.kind)) note(notes, one, `"${one.kind}" is about how a turn opens; put it first`);
    if (!opening.includes(one.kind)) opened = true;
    if (endsTurn(one)) ended ??= one;
  }
  return notes.problems.length === before ? decoded : refused;
};

function note(notes: Notes, { line }: Step, message: string): void {
  notes.problems.push({ line, message });
}

function endsTurn(step: Step): boolean {
  if (step.kind === "apiError") return !step.apiError.recover;
  if (step.kind === "kill") return step.kill === "SIGKILL";
  return ["result", "exit", "hang", "rateLimit", "fail"].includes(step.kind);
}

function step(raw: Node | null, notes: Notes): Step | typeof refused {
  const node = notes.resolve(raw);
  if (!isMap<Node>(node)) return notes.refuse(raw, 'a step is one word and its value, like "say: hello"');
  const words = node.items.map((pair) => String(pair.key)).filter((key) => key in decoders || key === "repeat");
  const [word, another] = words;
  const line = notes.line(raw);
  if (word === undefined) {
    const keys = node.items.map((pair) => String(pair.key)).join(", ");
    return notes.refuse(raw, `unknown step "${keys}"; known: ${[...Object.keys(decoders), "repeat"].join(", ")}`);
  }
  if (another !== undefined) return notes.refuse(raw, `two steps in one: "${word}" and "${another}"; write two items`);
  if (word === "repeat") {
    const value = repeat(raw, notes);
    return value === refused ? refused : { kind: "repeat", line, ...value };
  }
  const value = decoders[word as keyof typeof decoders](raw, notes);
  // The decoder was picked by the word, so the pair is one member of the union.
  return value === refused ? refused : ({ kind: word, line, ...value } as Step);
}

function repeat(raw: Node | null, notes: Notes): { repeat: { times: number; do: readonly Step[] } } | typeof refused {
  return record({ repeat: required(record({ times: required(count()), do: required(steps) })) })(raw, notes);
}

interface Edit {
  readonly file: string;
  readonly change:
    | { readonly write: string }
    | { readonly append: string }
    | { readonly replace: { readonly from: string; readonly to: string } };
}

function edit(): Decode<Edit> {
  const shape = record({
    file: required(text),
    write: optional(text),
    append: optional(text),
    replace: optional(record({ from: required(text), to: required(text) })),
  });
  return (raw, notes) => {
    const value = shape(raw, notes);
    if (value === refused) return refused;
    const { file, write, append, replace } = value;
    const changes = [
      ...(write === undefined ? [] : [{ write }]),
      ...(append === undefined ? [] : [{ append }]),
      ...(replace === undefined ? [] : [{ replace }]),
    ];
    const [change] = changes;
    if (change === undefined || changes.length > 1) {
      return notes.wrong(raw, "needs exactly one of write, append, replace");
    }
    return { file, change };
  };
}

function wordsOrLine(): Decode<string | readonly string[]> {
  const words = list(text);
  return (raw, notes) => {
    const node = notes.resolve(raw);
    return isMap(node) || node === null || "items" in node ? words(raw, notes) : text(raw, notes);
  };
}
