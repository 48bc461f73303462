const messageTools = ["inbox", "send", "reply", "ack"] as const;
const helpTools = ["report_blocked", "ask_human"] as const;

/** For agents that direct others: they arrange tasks. The others see and note down their own (`ownTaskTools`). */
export const taskTools = [
  "task_ready",
  "task_show",
  "task_create",
  "task_update",
  "task_close",
  "task_drop",
  "task_dep",
] as const;

/** For agents that see a run through to its end. */
export const runTools = ["criteria_list", "criteria_add", "criteria_amend", "criteria_prove", "run_complete"] as const;

/** For agents that judge work and let it land. */
export const landingTools = ["diff", "gates", "merge_preview", "merge"] as const;

/** For agents that follow several tasks together. */
export const groupTools = ["group_create", "group_status", "group_add", "group_remove"] as const;

/** Only where the project keeps expertise; elsewhere they would cost a turn and find nothing. */
export const expertiseTools = ["expertise_search", "learn"] as const;

/** The tools of the MCP server, in the order in which they are listed. The role of an agent decides which of them it gets. */
export const toolNames = [
  ...messageTools,
  "finish",
  ...helpTools,
  ...taskTools,
  ...runTools,
  "spawn",
  "fleet",
  "spec_write",
  "spec_read",
  ...landingTools,
  ...groupTools,
  "decide",
  "checkpoint",
  ...expertiseTools,
] as const;
export type ToolName = (typeof toolNames)[number];

/** The tools every agent needs to talk to the others. */
export const mailTools: readonly ToolName[] = [...messageTools, ...helpTools, "checkpoint"];

export const ownTaskTools: readonly ToolName[] = ["task_show", "task_update"];
