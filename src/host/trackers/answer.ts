import { no, ok, type Result } from "../../domain/result.ts";
import type { TrackerRefusal, TrackerTask } from "../../domain/tracker/tracker.ts";
import type { ProgramAnswer } from "./program.ts";

/** How one tracker writes lists of tasks. */
export interface AnswerForm {
  /** What was typed, for whoever must be told that it went wrong. */
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

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
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
