/** The tools of the MCP server, in the order in which they are listed. Which of them an agent sees is its role's matter. */
export const toolNames = [
  "inbox",
  "send",
  "reply",
  "ack",
  "finish",
  "report_blocked",
  "ask_human",
  "task_ready",
  "task_show",
  "task_create",
  "task_update",
  "task_close",
  "task_drop",
  "task_dep",
  "criteria_list",
  "criteria_add",
  "criteria_amend",
  "criteria_prove",
  "run_complete",
  "spawn",
  "fleet",
  "spec_write",
  "spec_read",
  "diff",
  "gates",
  "merge_preview",
  "merge",
  "group_create",
  "group_status",
  "group_add",
  "group_remove",
  "decide",
  "checkpoint",
  "expertise_search",
  "learn",
] as const;
export type ToolName = (typeof toolNames)[number];

/** Only where the project keeps expertise; elsewhere they would cost a turn and find nothing. */
export const expertiseTools: readonly ToolName[] = ["expertise_search", "learn"];

/** What everybody needs to talk to the others. */
export const mailTools: readonly ToolName[] = [
  "inbox",
  "send",
  "reply",
  "ack",
  "report_blocked",
  "ask_human",
  "checkpoint",
];

/** Tasks of others are arranged by those who direct; the rest see and note down their own. */
export const ownTaskTools: readonly ToolName[] = ["task_show", "task_update"];
export const taskTools: readonly ToolName[] = [
  "task_ready",
  "task_show",
  "task_create",
  "task_update",
  "task_close",
  "task_drop",
  "task_dep",
];
