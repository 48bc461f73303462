import type { FailureCause } from "../../domain/turn/failure.ts";
import type { TurnEnded, TurnEvent } from "../../domain/turn/turn-event.ts";
import type { Abilities, Driver, LineReader } from "../../ports/runtime.ts";
import { type Fields, fields } from "./json-fields.ts";

type Told = Pick<Driver, "launch" | "reader"> & {
  readonly abilities: Omit<Abilities, "resume" | "costLimit">;
};

/** A driver of a program that gets its prompt once, prints one JSON object per line, and leaves. */
export const execJsonDriver = ({ abilities, launch, reader }: Told): Driver => ({
  id: "exec-json",
  input: "once",
  abilities: { resume: true, costLimit: false, ...abilities },
  instructions: "prompt",
  steer: null,
  launch,
  reader,
});

/** Reads the output of a program that prints one JSON object per line and is told nothing during its turn. */
export const jsonLines =
  (read: (event: Fields) => readonly TurnEvent[]): LineReader =>
  (line) => {
    if (line.trim() === "") return { events: [], replies: [] };
    const event = parse(line);
    return {
      events: event === undefined ? [{ kind: "malformed", bytes: line.length, text: line }] : read(event),
      replies: [],
    };
  };

function parse(line: string): Fields | undefined {
  try {
    return fields(JSON.parse(line));
  } catch {
    // A line that is not JSON is an observation about the stream, which the caller reports as `malformed`.
    return undefined;
  }
}

export const ended = (
  failure: FailureCause | null,
  text: string | null,
  { resetAt = null, costUsd = null }: Partial<Pick<TurnEnded, "resetAt" | "costUsd">> = {},
): TurnEnded => ({ kind: "turn-ended", failure, text, resetAt, costUsd });

/** What a program says that its turn has cost by now. Zero is no word: programs print it for models they do not know. */
export const costSoFar = (usd: number): readonly TurnEvent[] => (usd > 0 ? [{ kind: "cost", usd }] : []);

/** Programs that name no kinds of failures: their sentences are told apart by the API's status in them, else by words. */
export function causeOf(said: string): FailureCause {
  for (const [words, cause] of causes) if (words.test(said)) return cause;
  return "unknown";
}

const causes: readonly (readonly [RegExp, FailureCause])[] = [
  [/context window|context_length|too many tokens|prompt is too long/i, "context_full"],
  [/quota|insufficient|billing|credit/i, "credit"],
  [/\b429\b|rate limit|usage limit|too many requests/i, "rate_limit"],
  [
    /\b(?:401|403)\b|unauthori[sz]ed|unauthenticated|forbidden|not logged in|log ?in again|invalid api key|refresh token|authentication/i,
    "login",
  ],
  [/model.*(?:not (?:found|supported|exist)|does not exist)|\b404\b/i, "model"],
  [/\b529\b|overloaded/i, "overloaded"],
  [/high demand|\b5\d\d\b|internal server|bad gateway|service unavailable/i, "server_error"],
  [
    /stream (?:disconnected|closed)|connection|network|timed? ?out|dns|error sending request|fetch failed|\bterminated\b/i,
    "network",
  ],
  [/content policy|flagged|refus/i, "refusal"],
  [/\b400\b|bad request|invalid_request/i, "rejected"],
];
