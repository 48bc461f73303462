import type { EventKind } from "../event/event-kinds.ts";

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
export const hookEventTypes = {
  "session-start": "session_start",
  "user-prompt": "user_prompt",
  "pre-tool": "tool_start",
  "post-tool": "tool_end",
  stop: "turn_stop",
  "pre-compact": "pre_compact",
  "session-end": "session_end",
} as const satisfies Record<HookEvent, EventKind>;
export type HookEventKind = (typeof hookEventTypes)[HookEvent];

/** What `ov log` records, by the words of the settings that an earlier version wrote. */
export const loggedEvents = {
  "tool-start": "pre-tool",
  "tool-end": "post-tool",
  "session-start": "session-start",
  "session-end": "session-end",
} as const satisfies Record<string, HookEvent>;
