import { readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { no, ok, type Result } from "../../../../domain/result.ts";
import { matchesGlob } from "../../../../domain/text/glob.ts";
import { count, type Decode, list, Notes, optional, plain, record, refused, required } from "./decode.ts";
import { type Step, steps } from "./step.ts";

/** What is known about a turn when its rule is chosen. */
export interface TurnFacts {
  readonly agent: string;
  readonly capability: string;
  readonly task: string;
  readonly turn: number;
  readonly attempt: number;
  readonly input: string;
}

export interface Rule {
  readonly when: When;
  readonly do: readonly Step[];
}

interface When {
  readonly agent: string | undefined;
  readonly capability: string | undefined;
  readonly task: string | undefined;
  readonly turn: number | undefined;
  readonly attempt: number | undefined;
  readonly input: RegExp | string | undefined;
}

/** The first rule whose every condition holds. */
export function chooseRule(rules: readonly Rule[], facts: TurnFacts): Rule | undefined {
  const fits = (pattern: string | undefined, value: string) => pattern === undefined || matchesGlob(value, pattern);
  return rules.find(({ when }) => {
    if (!fits(when.agent, facts.agent)) return false;
    if (!fits(when.capability, facts.capability)) return false;
    if (!fits(when.task, facts.task)) return false;
    if (when.turn !== undefined && when.turn !== facts.turn) return false;
    if (when.attempt !== undefined && when.attempt !== facts.attempt) return false;
    if (when.input instanceof RegExp) return when.input.test(facts.input);
    return when.input === undefined || facts.input.includes(when.input);
  });
}

/** `/.../flags` is a regular expression, anything else a substring. */
const matcher: Decode<RegExp | string> = (raw, notes) => {
  const value = plain(raw, notes);
  if (value === refused) return refused;
  const parts = /^\/(.+)\/([a-z]*)$/s.exec(value);
  if (parts === null) return value;
  try {
    // `g` and `y` would carry a position from one turn to the next.
    return new RegExp(parts[1] ?? "", (parts[2] ?? "").replace(/[gy]/g, ""));
  } catch (error) {
    return notes.wrong(raw, `is not a regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const when = record({
  agent: optional(plain),
  capability: optional(plain),
  task: optional(plain),
  turn: optional(count({ min: 1 })),
  attempt: optional(count({ min: 1 })),
  input: optional(matcher),
});

const always: When = {
  agent: undefined,
  capability: undefined,
  task: undefined,
  turn: undefined,
  attempt: undefined,
  input: undefined,
};

const rule: Decode<Rule> = (raw, notes) => {
  const value = record({ when: optional(when), do: required(steps) })(raw, notes);
  return value === refused ? refused : { when: value.when ?? always, do: value.do };
};

/** A whole scenario: its rules in the order they are tried. */
export const scenario: Decode<readonly Rule[]> = list(rule);

/** Reads and fully checks a scenario file. The refusal has one `file:line: problem` per mistake. */
export function loadScenario(path: string): Result<readonly Rule[], readonly string[]> {
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    return no([`${path}: cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return no(document.errors.map((error) => `${path}:${lines.linePos(error.pos[0]).line}: ${error.message}`));
  }
  const notes = new Notes(document, lines);
  const rules = notes.within("scenario", () => scenario(document.contents, notes));
  if (rules !== refused) return ok(rules);
  const problems = notes.problems.toSorted((a, b) => a.line - b.line);
  return no(problems.map(({ line, message }) => `${path}:${line}: ${message}`));
}
