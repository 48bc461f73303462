/**
 * What a tool does, whatever its program calls it. The first ten are those of the Agent Client Protocol; beside them,
 * `delegate`: starts or steers agents of its own; `ask`: waits for a person; `own`: a tool of ours, which knows its rights.
 */
export const toolKinds = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
  "delegate",
  "ask",
  "own",
] as const;
export type ToolKind = (typeof toolKinds)[number];
