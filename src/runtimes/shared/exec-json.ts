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

/** In this order: words that name one cause alone, then the API's status, then words that several causes share. */
const causes: readonly (readonly [RegExp, FailureCause])[] = [
  [/insufficient[ _](?:quota|credit|fund|balance)|exceeded your current quota|credit balance|\b402\b/i, "credit"],
  // Such sentences name the page where more can be bought, too.
  [/rate[ _]limit|usage limit|too many requests|please wait|throttl|\b429\b/i, "rate_limit"],
  [
    /context[ _](?:window|length|limit)|maximum number of tokens|too many tokens|(?:prompt|input) is too long|input token count/i,
    "context_full",
  ],
  [/quota|billing|credit/i, "credit"],
  [
    /\b(?:401|403)\b|unauthori[sz]ed|unauthenticated|forbidden|not logged in|log ?in again|please log ?in|(?:invalid|incorrect) api key|api key (?:is )?(?:not valid|invalid|expired|missing)|(?:token|session|login) (?:has|is) expired|refresh token|authentication/i,
    "login",
  ],
  [/model.*(?:not (?:found|supported|exist)|does not exist)|unknown model|\b404\b/i, "model"],
  [/content[ _](?:policy|filter)|flagged|refusal|refused to (?!connect)/i, "refusal"],
  [/^\W*400\b|\b(?:status|http|code):? 400\b|bad request|invalid_request/i, "rejected"],
  [/\b529\b|overloaded/i, "overloaded"],
  [/high demand|\b5\d\d\b|internal server|bad gateway|service unavailable/i, "server_error"],
  [
    /stream (?:disconnected|closed)|connection|network|timed? ?out|dns|error sending request|fetch failed|\bterminated\b/i,
    "network",
  ],
  [/refus/i, "refusal"],
  [/\b400\b/, "rejected"],
];
