import { checklistView, endedRunView } from "../../../contract/views/run.ts";
import {
  closedTaskView,
  droppedTaskView,
  groupProgressView,
  groupView,
  specView,
  taskView,
} from "../../../contract/views/task.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { criterionStatus, proofWords } from "../../../domain/run/checklist.ts";
import type { TaskFields } from "../../../domain/task/fields.ts";
import { quoted, visibleLine } from "../../../domain/text/visible.ts";
import type { GroupDetail, GroupStatus } from "../../../usecases/groups/read-groups.ts";
import type { ChecklistReply } from "../../../usecases/runs/criteria.ts";
import type { TaskDetail } from "../../../usecases/tasks/task-detail.ts";
import type { Given, ToolAnswer, ToolContext, ToolHandler } from "../tool-call.ts";

export const taskReady: ToolHandler = async (given, { app }) => {
  const ready = await app.call("task.ready", { limit: given.number("limit") });
  if (!ready.ok) return ready;
  const { tasks } = ready.value;
  const text = tasks.length === 0 ? "No task is ready." : tasks.map(taskLine).join("\n");
  return ok({ text, data: { tasks: tasks.map(taskView) } });
};

export const taskShow: ToolHandler = async (given, context) => {
  const id = ownOr(given, context);
  return id.ok ? shown(await context.app.call("task.show", { id: id.value })) : id;
};

export const taskCreate: ToolHandler = async (given, { app }) => {
  const made = await app.call("task.create", {
    ...fieldsOf(given),
    title: given.text("title"),
    id: given.optionalText("id"),
    blockedBy: given.texts("blocked_by"),
    criteria: given.numbers("criteria"),
  });
  if (!made.ok) return made;
  const { planning } = made.value;
  const lines = [`Created ${taskLine(made.value)}`, ...planning.map(visibleLine)];
  return ok({ text: lines.join("\n"), data: { task: taskView(made.value), planning } });
};

export const taskUpdate: ToolHandler = async (given, context) => {
  const id = ownOr(given, context);
  if (!id.ok) return id;
  const criteria = given.numbers("criteria");
  const status = given.optionalText("status");
  const change = { title: given.optionalText("title"), status, criteria, ...fieldsOf(given) };
  const updated = await context.app.call("task.update", { id: id.value, ...change });
  const reply = shown(updated);
  if (!updated.ok || !reply.ok) return reply;
  const words = [...updated.value.replaced, ...updated.value.holder].map(visibleLine);
  return words.length === 0 ? reply : ok({ ...reply.value, text: [reply.value.text, ...words].join("\n") });
};

export const taskClose: ToolHandler = async (given, { app }) => {
  const closed = await app.call("task.close", { id: given.text("id"), reason: given.optionalText("reason") });
  if (!closed.ok) return closed;
  const { task, ready } = closed.value;
  const now = ready.length === 0 ? [] : ["Ready now:", ...ready.map(taskLine)];
  return ok({ text: [`Closed ${task.id}.`, ...now].join("\n"), data: closedTaskView(closed.value) });
};

export const taskDrop: ToolHandler = async (given, { app }) => {
  const dropped = await app.call("task.drop", {
    id: given.text("id"),
    reason: given.text("reason"),
    withDependents: given.isOn("with_dependents"),
  });
  if (!dropped.ok) return dropped;
  const { task, alsoDropped, agents, kept, ready, unserved } = dropped.value;
  const lines = [
    `Dropped ${[task.id, ...alsoDropped].join(", ")}.`,
    ...(agents.length === 0 ? [] : [`Stopped: ${agents.map(({ agentName }) => agentName).join(", ")}.`]),
    ...kept.flatMap(({ agentName, branch, commits }) =>
      branch === null || commits === 0 ? [] : [`The commits of ${agentName} stay on ${visibleLine(branch)}.`],
    ),
    ...(ready.length === 0 ? [] : ["Ready now, without its work:", ...ready.map(taskLine)]),
    ...(unserved.length === 0 ? [] : [`No task serves any more: criterion ${unserved.join(", ")}`]),
  ];
  return ok({ text: lines.join("\n"), data: droppedTaskView(dropped.value) });
};

export const taskDep: ToolHandler = async (given, { app }) => {
  const remove = given.isOn("remove");
  const ends = { taskId: given.text("id"), dependsOn: given.text("depends_on") };
  const changed = await app.call(remove ? "task.removeDependency" : "task.addDependency", ends);
  if (!changed.ok) return changed;
  const { task, waitsFor } = changed.value;
  const waits = waitsFor.length === 0 ? "waits for nothing" : `waits for ${waitsFor.join(", ")}`;
  return ok({ text: `${task.id} ${waits}.`, data: { task: taskView(changed.value), changed: changed.value.changed } });
};

/** The task of an agent that names none. */
function ownOr(given: Given, { self }: ToolContext, field = "id"): Result<string, Refusal> {
  const id = given.optionalText(field) ?? self.taskId;
  return id === null ? no(invalid(field, "is needed: you have no task of your own")) : ok(id);
}

const fieldsOf = (given: Given): TaskFields => ({
  description: given.optionalText("description"),
  type: given.optionalText("type"),
  priority: given.number("priority"),
  files: given.texts("files"),
  shares: given.texts("shares"),
  labels: given.texts("labels"),
  parentId: given.optionalText("parent"),
});

function shown(found: Result<TaskDetail, Refusal>): Result<ToolAnswer, Refusal> {
  if (!found.ok) return found;
  const { task, waitsFor, blocks, criteria } = found.value;
  const lines = [
    taskLine(found.value),
    ...(task.parentId === null ? [] : [`part of ${task.parentId}`]),
    ...criteria.map(({ number, text }) => `serves criterion ${number}: ${visibleLine(text)}`),
    ...(task.claimedBy === null ? [] : [`held by ${visibleLine(task.claimedBy)}`]),
    ...(task.files.length === 0 ? [] : [`files: ${task.files.map(visibleLine).join(", ")}`]),
    ...(task.shares.length === 0 ? [] : [`shared files: ${task.shares.map(visibleLine).join(", ")}`]),
    ...(waitsFor.length === 0 ? [] : [`waits for ${waitsFor.join(", ")}`]),
    ...(blocks.length === 0 ? [] : [`waited for by ${blocks.join(", ")}`]),
    // The author of the task is not the authority that gives the rules.
    ...(task.description === null ? [] : quoted(task.description)),
  ];
  return ok({ text: lines.join("\n"), data: { task: taskView(found.value) } });
}

const taskLine = ({ task }: TaskDetail): string =>
  `${task.id} [${task.status}, P${task.priority}] ${visibleLine(task.title)}`;

export const criteriaList: ToolHandler = async (_given, { app }) => checklist(await app.call("criterion.list", {}));

export const criteriaAdd: ToolHandler = async (given, { app }) =>
  checklist(await app.call("criterion.add", { texts: given.texts("criteria") ?? [] }));

export const criteriaAmend: ToolHandler = async (given, { app }) => {
  const number = given.number("number") ?? 0;
  return oneCriterion(number, await app.call("criterion.amend", { number, text: given.text("text") }));
};

export const criteriaProve: ToolHandler = async (given, { app }) => {
  const number = given.number("number") ?? 0;
  const evidence = {
    file: given.optionalText("file"),
    test: given.optionalText("test"),
    commit: given.optionalText("commit"),
  };
  return oneCriterion(number, await app.call("criterion.prove", { number, ...evidence }));
};

/** The criterion that was changed, and what is left: the whole list after each of many would be read again and again. */
function oneCriterion(number: number, found: Result<ChecklistReply, Refusal>): Result<ToolAnswer, Refusal> {
  if (!found.ok) return found;
  const { criteria, remarks } = found.value;
  const open = criteria.filter(({ criterion }) => criterionStatus(criterion) === "open");
  const numbers = open.map(({ criterion }) => criterion.number).join(", ");
  const text = [
    ...criteria.filter(({ criterion }) => criterion.number === number).map(criterionLine),
    numbers === "" ? "Every criterion is shown or waived." : `Nothing shows yet: ${numbers}`,
    ...remarks.map((remark) => `Note: ${remark}`),
  ].join("\n");
  return ok({ text, data: checklistView(found.value) });
}

function criterionLine({ criterion, tasks }: ChecklistReply["criteria"][number]): string {
  const proof = proofWords(criterion);
  const facts = [...(proof === undefined ? [] : [proof]), ...tasks];
  const known = facts.length === 0 ? "" : ` (${facts.map(visibleLine).join(", ")})`;
  return `${criterion.number} [${criterionStatus(criterion)}] ${visibleLine(criterion.text)}${known}`;
}

function checklist(found: Result<ChecklistReply, Refusal>): Result<ToolAnswer, Refusal> {
  if (!found.ok) return found;
  const { criteria, unserved, remarks } = found.value;
  const lines = criteria.map(criterionLine);
  const missing = unserved.length === 0 ? [] : [`No task serves yet: ${unserved.join(", ")}`];
  const notes = remarks.map((remark) => `Note: ${remark}`);
  const text = lines.length === 0 ? "This run has no checklist." : [...lines, ...missing, ...notes].join("\n");
  return ok({ text, data: checklistView(found.value) });
}

export const runComplete: ToolHandler = async (_given, { app }) => {
  const ended = await app.call("run.complete", {});
  if (!ended.ok) return ended;
  const { runId, status, review } = ended.value;
  const head = status === "active" ? `Run ${runId} has not ended yet.` : `Run ${runId} is complete.`;
  return ok({
    text: [head, ...(review === null ? [] : [visibleLine(review)])].join("\n"),
    data: endedRunView(ended.value),
  });
};

export const specWrite: ToolHandler = async (given, { app }) => {
  const written = await app.call("spec.write", { taskId: given.text("task_id"), body: given.text("body") });
  if (!written.ok) return written;
  const { taskId, path, isKnown } = written.value;
  const note = isKnown ? "" : `; there is no task ${taskId} here`;
  return ok({ text: `Spec of ${taskId} written: ${visibleLine(path)}${note}`, data: { taskId, path } });
};

export const specRead: ToolHandler = async (given, context) => {
  const id = ownOr(given, context, "task_id");
  if (!id.ok) return id;
  const found = await context.app.call("spec.read", { taskId: id.value });
  if (!found.ok) return found;
  const { taskId, text, author } = found.value;
  const by = author === null ? "" : ` by ${visibleLine(author)}`;
  return ok({ text: [`Spec of ${taskId}${by}:`, ...quoted(text)].join("\n"), data: specView(found.value) });
};

export const groupCreate: ToolHandler = async (given, { app }) =>
  changed(await app.call("group.create", { name: given.text("name"), taskIds: given.texts("tasks") ?? [] }));

export const groupAdd: ToolHandler = async (given, { app }) =>
  changed(await app.call("group.add", { group: given.text("group"), taskIds: given.texts("tasks") ?? [] }));

export const groupRemove: ToolHandler = async (given, { app }) =>
  changed(await app.call("group.remove", { group: given.text("group"), taskIds: given.texts("tasks") ?? [] }));

export const groupStatus: ToolHandler = async (given, { app }) => {
  const found = await app.call("group.status", { group: given.optionalText("group") });
  if (!found.ok) return found;
  const { groups } = found.value;
  const text = groups.length === 0 ? "No active groups." : groups.map(progressLine).join("\n");
  return ok({ text, data: { groups: groups.map(groupProgressView) } });
};

function changed(result: Result<GroupDetail, Refusal>): Result<ToolAnswer, Refusal> {
  if (!result.ok) return result;
  const { group, memberIds } = result.value;
  const text = `Group ${group.id} (${visibleLine(group.name)}), ${group.status}: ${memberIds.join(", ")}`;
  return ok({ text, data: { group: groupView(result.value) } });
}

const progressLine = ({ group, progress }: GroupStatus): string =>
  `${group.id} (${visibleLine(group.name)}), ${group.status}: ${progress.completed} of ${progress.total} closed, ` +
  `${progress.inProgress} in progress, ${progress.blocked} blocked, ${progress.open} open`;
