import { type DefinedTool, toolFor } from "../../contract/tools/tools.ts";
import type { RoleSpec } from "../../domain/role/role-spec.ts";
import { toolsOf } from "../../domain/role/roles.ts";
import type { ToolName } from "../../domain/role/tools.ts";
import type { ObjectSchema } from "../../domain/schema/schema.ts";
import type { ToolHandler } from "./tool-call.ts";

/** The handler of each tool, loaded when it is called. A tool without a row here is not offered. */
export const implementations: Readonly<Partial<Record<DefinedTool, () => Promise<ToolHandler>>>> = {
  inbox: async () => (await import("./tools/mail.ts")).inbox,
  send: async () => (await import("./tools/mail.ts")).send,
  reply: async () => (await import("./tools/mail.ts")).reply,
  ack: async () => (await import("./tools/mail.ts")).ack,
  report_blocked: async () => (await import("./tools/mail.ts")).reportBlocked,
  ask_human: async () => (await import("./tools/mail.ts")).askHuman,
  decide: async () => (await import("./tools/mail.ts")).decide,
  checkpoint: async () => (await import("./tools/finish.ts")).checkpoint,
  finish: async () => (await import("./tools/finish.ts")).finish,
  task_ready: async () => (await import("./tools/tasks.ts")).taskReady,
  task_show: async () => (await import("./tools/tasks.ts")).taskShow,
  task_create: async () => (await import("./tools/tasks.ts")).taskCreate,
  task_update: async () => (await import("./tools/tasks.ts")).taskUpdate,
  task_close: async () => (await import("./tools/tasks.ts")).taskClose,
  task_drop: async () => (await import("./tools/tasks.ts")).taskDrop,
  task_dep: async () => (await import("./tools/tasks.ts")).taskDep,
  criteria_list: async () => (await import("./tools/tasks.ts")).criteriaList,
  criteria_add: async () => (await import("./tools/tasks.ts")).criteriaAdd,
  criteria_amend: async () => (await import("./tools/tasks.ts")).criteriaAmend,
  criteria_prove: async () => (await import("./tools/tasks.ts")).criteriaProve,
  run_complete: async () => (await import("./tools/tasks.ts")).runComplete,
  spec_write: async () => (await import("./tools/tasks.ts")).specWrite,
  spec_read: async () => (await import("./tools/tasks.ts")).specRead,
  spawn: async () => (await import("./tools/team.ts")).spawn,
  fleet: async () => (await import("./tools/team.ts")).fleet,
  group_create: async () => (await import("./tools/tasks.ts")).groupCreate,
  group_status: async () => (await import("./tools/tasks.ts")).groupStatus,
  group_add: async () => (await import("./tools/tasks.ts")).groupAdd,
  group_remove: async () => (await import("./tools/tasks.ts")).groupRemove,
  diff: async () => (await import("./tools/merge.ts")).diff,
  gates: async () => (await import("./tools/finish.ts")).gates,
  merge_preview: async () => (await import("./tools/merge.ts")).mergePreview,
  merge: async () => (await import("./tools/merge.ts")).merge,
};

/** Nothing here keeps expertise yet. */
const terms = { expertise: false };

/** The names an agent of this role is offered: what its role gives it and this program can do. */
export const offeredTools = (role: RoleSpec): readonly ToolName[] =>
  toolsOf(role, terms).filter((name) => Object.hasOwn(implementations, name));

/** What `tools/list` answers. */
export function listedTools(role: RoleSpec): readonly object[] {
  return offeredTools(role).flatMap((name) => {
    const tool = toolFor(name, role);
    if (tool === undefined) return [];
    const { description, input, readOnly } = tool;
    const annotations = readOnly ? { annotations: { readOnlyHint: true } } : {};
    return [{ name, description, inputSchema: listedInput(input), ...annotations }];
  });
}

/**
 * The schema as a model reads it. It leaves out what says little, for each turn pays for it: empty lists of required keys,
 * and whether other keys may be there. Arguments are checked against the whole schema, and a refusal names the key.
 */
function listedInput({ required, properties, additionalProperties: _, ...input }: ObjectSchema): object {
  const listed = Object.entries(properties).map(([key, schema]) => [
    key,
    schema.type === "object" ? listedInput(schema) : schema,
  ]);
  return { ...input, properties: Object.fromEntries(listed), ...(required.length === 0 ? {} : { required }) };
}
