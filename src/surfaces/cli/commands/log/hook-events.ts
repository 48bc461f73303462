/** What hooks may report, and the event type each becomes. */
export const hookEvents = {
  "tool-start": "tool_start",
  "tool-end": "tool_end",
  "session-start": "session_start",
  "session-end": "session_end",
} as const;
