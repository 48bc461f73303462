/** What hooks may report, and the event of a hook that each is. */
export const hookEvents = {
  "tool-start": "pre-tool",
  "tool-end": "post-tool",
  "session-start": "session-start",
  "session-end": "session-end",
} as const;
