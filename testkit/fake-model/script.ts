/**
 * The language of scripts, the same for every wire format. A script stands in the conversation itself, so the server keeps
 * nothing between requests and any number of agents may talk to it.
 */
export type Step = AnswerStep | FailureStep;

export type CallStep =
  /** A call of the client's shell tool, whatever it is called there. */
  { readonly shell: string } | { readonly tool: string; readonly input?: Readonly<Record<string, unknown>> };

export type AnswerStep = Manner &
  (
    | { readonly text: string; readonly stop?: Stop }
    | (CallStep & { readonly text?: string })
    | { readonly calls: readonly CallStep[]; readonly text?: string }
  );

/** Why an answer ends, where it does not end by itself. */
export type Stop = "refusal" | "max_tokens";

interface Manner {
  /** Streamed in so many parts, with a pause between them. */
  readonly pieces?: number;
  readonly pauseMs?: number;
  /** How long nothing comes at all, not even a header. */
  readonly delayMs?: number;
  readonly usage?: Partial<Usage>;
}

/** Tokens that an answer claims. No token is in two of them; a format that counts otherwise gets the sums it expects. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A failure of the API, this many times (1), before the step after it is given. */
export type FailureStep = { readonly times?: number } & (
  | Refused
  /** Nothing comes at all, or nothing after the first words; the connection stays open. */
  | { readonly hang: "headers" | "stream" }
  /** The connection ends after the first words. */
  | { readonly cut: "stream" }
);

/** An error of the API. `resetAfter`: a limit that ends in so many seconds, said in the way of the wire format. */
export interface Refused {
  readonly status: number;
  readonly retryAfter?: number;
  readonly resetAfter?: number;
  readonly type?: string;
  readonly message?: string;
}

export interface Turn {
  readonly role: "user" | "assistant" | "other";
  readonly text: string;
}

export interface Due {
  /** The answer, if the script still has one. */
  readonly answer: AnswerStep | undefined;
  /** What fails before it, in order. */
  readonly failures: readonly FailureStep[];
}

/** Claude Code writes this answer itself behind a call whose program was killed, before it goes on. */
const sayingOfClaude = "No response requested.";

/** What is due: the script of the last message that has one, at the number of answers given since. */
export function dueIn(turns: readonly Turn[]): Due {
  const at = turns.findLastIndex(({ role, text }) => role === "user" && scriptIn(text) !== undefined);
  const script = scriptIn(turns[at]?.text ?? "") ?? [];
  const isAnswer = ({ role, text }: Turn): boolean => role === "assistant" && text.trim() !== sayingOfClaude;
  const answered = turns.slice(at + 1).filter(isAnswer).length;
  const failures: FailureStep[] = [];
  let answers = 0;
  for (const step of script) {
    if (isFailure(step)) {
      if (answers === answered) failures.push(step);
    } else if (answers++ === answered) return { answer: step, failures };
  }
  return { answer: undefined, failures };
}

const isFailure = (step: Step): step is FailureStep => "status" in step || "hang" in step || "cut" in step;

const opening = "@@[";
/** On its way to a model an @ may have got a backslash. */
const closing = /\]\\?@@/;

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
