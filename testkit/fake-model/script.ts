/**
 * One reply of the fake model. A script stands in the conversation itself, so the server keeps nothing between
 * requests and any number of agents may talk to it.
 */
export type Step =
  /** `pieces`: streamed in so many parts, with a pause between them. `stop`: why it ends, such as `refusal`. */
  | { readonly text: string; readonly pieces?: number; readonly pauseMs?: number; readonly stop?: string }
  /** A call of the client's shell tool, whatever it is called there. */
  | { readonly shell: string }
  | { readonly tool: string; readonly input?: Readonly<Record<string, unknown>> }
  /** An error of the API, this many times, before the step after it is given. */
  | {
      readonly status: number;
      readonly times?: number;
      readonly retryAfter?: number;
      readonly type?: string;
      readonly message?: string;
    };

export interface Turn {
  readonly role: string;
  readonly text: string;
}

const opening = "@@[";
/** On its way to a model an @ may have got a backslash. */
const closing = /\]\\?@@/;

/** The reply that is due: the script of the last message that has one, at the number of answers given since. */
export function dueStep(turns: readonly Turn[]): Step | undefined {
  const at = turns.findLastIndex(({ role, text }) => role === "user" && scriptIn(text) !== undefined);
  const script = scriptIn(turns[at]?.text ?? "");
  if (script === undefined) return undefined;
  const answered = turns.slice(at + 1).filter(({ role }) => role === "assistant").length;
  return script.filter((step) => !("status" in step))[answered];
}

/** Errors that come before the reply that is due. */
export function errorsBefore(turns: readonly Turn[]): readonly Extract<Step, { status: number }>[] {
  const at = turns.findLastIndex(({ role, text }) => role === "user" && scriptIn(text) !== undefined);
  const script = scriptIn(turns[at]?.text ?? "") ?? [];
  const answered = turns.slice(at + 1).filter(({ role }) => role === "assistant").length;
  const errors: Extract<Step, { status: number }>[] = [];
  let replies = 0;
  for (const step of script) {
    if ("status" in step) {
      if (replies === answered) errors.push(step);
    } else replies++;
  }
  return errors;
}

/** Clients quote what they are given, so the text is also tried with its quotes set free. */
function scriptIn(text: string): readonly Step[] | undefined {
  const start = text.lastIndexOf(opening);
  if (start < 0) return undefined;
  const rest = text.slice(start + opening.length - 1);
  const end = rest.search(closing);
  if (end < 0) return undefined;
  const raw = rest.slice(0, end + 1);
  for (const candidate of [raw, raw.replaceAll('\\"', '"')]) {
    try {
      return JSON.parse(candidate) as Step[];
    } catch {
      // Not this form; the next one may be.
    }
  }
  throw new Error(`a script that is no JSON: ${raw.slice(0, 200)}`);
}
