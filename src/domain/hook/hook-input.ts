import type { ToolFacts } from "../event/event-kinds.ts";
import type { ToolUse } from "../guard/tool-use.ts";
import type { HookEvent } from "./hook-event.ts";

/** What a hook was told on its standard input, as far as we use it. */
export interface HookInput {
  readonly tool: string | null;
  readonly toolInput: unknown;
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
  /** Undefined for what is no JSON object: a guard must not take that for "nothing to worry about". */
  read(text: string | undefined): HookInput | undefined;
  /** Text that the program puts before the model beside what it was doing. */
  context(event: HookEvent, text: string): Readonly<Record<string, unknown>>;
  /** Keeps the model at work: it reads the reason instead of stopping. */
  goOn(reason: string): Readonly<Record<string, unknown>>;
}

/** What is put on record of a hook: which tool and on what, never the whole of what went in. */
export function hookFacts({ tool, toolInput, toolUseId, sessionId, source }: HookInput): ToolFacts {
  const subject = subjectOf(toolInput);
  return {
    ...(sessionId === null ? {} : { sessionId }),
    ...(source === null ? {} : { source }),
    ...(tool === null ? {} : { tool }),
    ...(toolUseId === null ? {} : { id: toolUseId }),
    ...(subject === undefined ? {} : { subject }),
  };
}

/** The fields by which a person recognises a tool call, most telling first. */
const telling = ["command", "file_path", "notebook_path", "path", "pattern", "url", "description"] as const;
const longestSubject = 200;

/** In a few words, on what a tool is used. */
export function subjectOf(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const fields: Readonly<Record<string, unknown>> = { ...input };
  for (const name of telling) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value.slice(0, longestSubject);
  }
  return undefined;
}
