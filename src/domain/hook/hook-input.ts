import type { ToolFacts } from "../event/event-kinds.ts";

/** What a hook was told on its standard input, as far as we use it. */
export interface HookInput {
  readonly tool: string | null;
  readonly toolInput: unknown;
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

/** Undefined for what is no JSON object: a guard must not take that for "nothing to worry about". */
export function readHookInput(text: string | undefined): HookInput | undefined {
  const given = objectIn(text);
  if (given === undefined) return undefined;
  return {
    tool: stringOf(given.tool_name),
    toolInput: given.tool_input,
    toolUseId: stringOf(given.tool_use_id),
    sessionId: stringOf(given.session_id),
    transcript: stringOf(given.transcript_path),
    cwd: stringOf(given.cwd),
    source: stringOf(given.source),
    continuing: given.stop_hook_active === true,
    subagent: stringOf(given.agent_id) !== null,
  };
}

function objectIn(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

const stringOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

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
