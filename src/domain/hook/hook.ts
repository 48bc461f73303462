import type { EventFact } from "../event/event.ts";
import type { EventKind, SessionFacts, ToolFacts } from "../event/event-kinds.ts";
import { keptInput } from "../event/tool-call.ts";
import type { ToolUse } from "../guard/tool-use.ts";
import { shortened } from "../text/sizes.ts";

/** What a runtime's hooks tell us about, by our own names. */
export const hookEvents = [
  "session-start",
  "user-prompt",
  "pre-tool",
  "post-tool",
  "stop",
  "pre-compact",
  "session-end",
] as const;
export type HookEvent = (typeof hookEvents)[number];

/** The kind of event that each is put on record as. */
const hookEventTypes = {
  "session-start": "session_start",
  "user-prompt": "user_prompt",
  "pre-tool": "tool_start",
  "post-tool": "tool_end",
  stop: "turn_stop",
  "pre-compact": "pre_compact",
  "session-end": "session_end",
} as const satisfies Record<HookEvent, EventKind>;
type HookEventKind = (typeof hookEventTypes)[HookEvent];

/** What `ov log` records, by the words of the settings that an earlier version wrote. */
export const loggedEvents = {
  "tool-start": "pre-tool",
  "tool-end": "post-tool",
  "session-start": "session-start",
  "session-end": "session-end",
} as const satisfies Record<string, HookEvent>;

/** What a hook was told on its standard input, as far as we use it. */
export interface HookInput {
  readonly tool: string | null;
  readonly toolInput: unknown;
  /** What the tool is used on, in one short line. */
  readonly summary: string | null;
  /** How long a tool that has ended took. */
  readonly durationMs: number | null;
  /** What the tool is about to do, for the guard. */
  readonly use: ToolUse;
  readonly toolUseId: string | null;
  readonly sessionId: string | null;
  /** File in which the runtime keeps the conversation. */
  readonly transcript: string | null;
  /** Where the runtime stands. */
  readonly cwd: string | null;
  /** Why a session starts: startup, resume, clear, compact. */
  readonly source: string | null;
  /** The runtime already goes on because a hook of its stop asked for it. */
  readonly continuing: boolean;
  /** A helper that the session started reports it, not the session itself. */
  readonly subagent: boolean;
}

/** How the hooks of one vendor's program are read and answered. */
export interface HookFormat {
  /** Reads the text that the program gives to a hook. Undefined when the text is no JSON object; a guard then denies. */
  read(text: string | undefined): HookInput | undefined;
  /** Text that the program puts before the model beside what it was doing. */
  context(event: HookEvent, text: string): Readonly<Record<string, unknown>>;
  /**
   * What says that a tool of an unattended turn is allowed, with a note for the model if there is one. Null where the
   * program needs no word for that.
   */
  allowance(note: string | undefined): Readonly<Record<string, unknown>> | null;
  /** What says why a tool is denied. Null where the program shows its model what the hook wrote to its error output. */
  denial(reason: string): Readonly<Record<string, unknown>> | null;
  /** Keeps the model at work: it reads the reason instead of stopping. */
  goOn(reason: string): Readonly<Record<string, unknown>>;
}

/** The part of it that is put on record. */
export type HookSeen = Partial<
  Pick<HookInput, "tool" | "toolUseId" | "toolInput" | "summary" | "durationMs" | "sessionId" | "source" | "transcript">
>;

/** The event that a hook's report is put on record as. */
export function hookFact(event: HookEvent, seen: HookSeen, digest: (text: string) => string): EventFact<HookEventKind> {
  const type = hookEventTypes[event];
  switch (type) {
    case "tool_start":
      return { type, data: { ...toolFacts(seen), ...keptInput(seen.toolInput, digest) } };
    case "tool_end":
      return { type, data: { ...toolFacts(seen), durationMs: seen.durationMs ?? null } };
    case "session_start":
    case "session_end": {
      const { transcript } = seen;
      return {
        type,
        data: { ...sessionFacts(seen), ...(transcript == null ? {} : { transcript: keptText(transcript) }) },
      };
    }
    default:
      return { type, data: sessionFacts(seen) };
  }
}

/** The tool that a hook saw, and its target. */
export const toolFacts = (seen: HookSeen): ToolFacts => ({
  tool: keptText(seen.tool ?? null),
  id: keptText(seen.toolUseId ?? null),
  summary: keptText(seen.summary ?? null),
  ...sessionFacts(seen),
});

const sessionFacts = ({ sessionId, source }: HookSeen): SessionFacts => ({
  ...(sessionId == null ? {} : { sessionId: keptText(sessionId) }),
  ...(source == null ? {} : { source: keptText(source) }),
});

/** A text of a hook as an event keeps it. Hooks send short ones, but an agent may send what it likes. */
export const keptText = <T extends string | null>(text: T): T => shortened(text, mostTextChars) as T;

const mostTextChars = 4_000;
