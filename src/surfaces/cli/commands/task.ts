import {
  closedTaskView,
  droppedTaskView,
  importedTasksView,
  specView,
  taskView,
} from "../../../contract/views/task.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { DependencyReply } from "../../../usecases/tasks/dependencies.ts";
import type { KeptWork } from "../../../usecases/tasks/drop-task.ts";
import type { TaskDetail } from "../../../usecases/tasks/task-detail.ts";
import { exits } from "../../shared/exits.ts";
import { counted, shortTime } from "../../shared/format.ts";
import type { Call, Handler, Io, Outcome, Paint, Rows } from "../command.ts";
import { integer, isOn, numbers, text, texts, word } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";
import { table } from "../table.ts";

export const create: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const criteria = numbers("criteria", flags.criteria);
  if (!criteria.ok) return criteria;
  const created = await app.call("task.create", {
    title: text(args.title) ?? text(flags.title) ?? "",
    id: text(flags.id),
    blockedBy: texts(flags["blocked-by"]),
    criteria: criteria.value,
    ...(await fieldFlags(call)),
  });
  if (!created.ok) return created;
  const { task, planning } = created.value;
  const json = { id: task.id, task: taskView(created.value), ...(planning.length === 0 ? {} : { planning }) };
  const words = planning.map((line) => hintLine(io.paint, visibleLine(line)));
  return ok({ json, text: [successLine(io.paint, "Created task", task.id), ...words].join("\n"), quietText: task.id });
};

/** The flags that `create` and `update` share, by the names of the fields. */
export async function fieldFlags({ flags, io }: Call) {
  const description = text(flags.description);
  return {
    description: description === "-" ? await io.stdin() : description,
    type: text(flags.type),
    priority: integer(flags.priority),
    assignee: text(flags.assignee),
    labels: texts(flags.labels),
    files: texts(flags.files),
    shares: texts(flags.shares),
    parentId: text(flags.parent),
  };
}

export const update: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const criteria = numbers("criteria", flags.criteria);
  if (!criteria.ok) return criteria;
  const fields = await fieldFlags(call);
  const change = { title: text(flags.title), status: text(flags.status), criteria: criteria.value, ...fields };
  if (Object.values(change).every((value) => value === undefined)) {
    return no(invalid("change", "must name at least one field, such as --title or --status"));
  }
  const updated = await app.call("task.update", { id: word(args["task-id"]), ...change });
  if (!updated.ok) return updated;
  const { task, holder, replaced } = updated.value;
  const words = [...replaced, ...holder].map((line) => hintLine(io.paint, visibleLine(line)));
  return ok({
    json: {
      task: taskView(updated.value),
      ...(holder.length === 0 ? {} : { holder }),
      ...(replaced.length === 0 ? {} : { replaced }),
    },
    text: [successLine(io.paint, "Updated task", task.id), ...words].join("\n"),
    quietText: task.id,
  });
};

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("task.show", { id: word(args["task-id"]) });
  if (!found.ok) return found;
  return ok({ json: { task: taskView(found.value) }, text: page(io.paint, found.value) });
};

function page(paint: Paint, { task, waitsFor, blocks, criteria }: TaskDetail): string {
  const facts: readonly (readonly [string, string | null])[] = [
    ["status", task.status],
    ["type", task.type],
    ["priority", String(task.priority)],
    ["claimed by", task.claimedBy],
    ["assignee", task.assignee],
    ["waits for", joined(waitsFor)],
    ["blocks", joined(blocks)],
    ["part of", task.parentId],
    ["labels", joined(task.labels)],
    ["files", joined(task.files)],
    ["shared files", joined(task.shares)],
    ["serves", joined(criteria.map(({ number, text: words }) => `criterion ${number}: ${words}`))],
    ["merge", mergeWords(task)],
    ["run", task.runId],
    ["created", shortTime(task.createdAt, Date.now())],
    ["closed", task.closedAt === null ? null : shortTime(task.closedAt, Date.now())],
    ["reason", task.closeReason],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`  ${paint.dim(name.padEnd(10))}  ${visibleLine(value)}`],
  );
  const description = task.description === null ? [] : ["", visibleText(task.description)];
  return [`${paint.accent(task.id)}  ${paint.bold(visibleLine(task.title))}`, ...lines, ...description].join("\n");
}

/** Where the branch of a task is. Nothing is said while its agent works on it. */
function mergeWords({ mergeState, status }: TaskDetail["task"]): string | null {
  if (mergeState === "none") return null;
  if (mergeState !== "pending") return mergeState;
  return status === "in_review" ? "not in the queue yet" : null;
}

const joined = (items: readonly string[]): string | null => (items.length === 0 ? null : items.join(", "));

export const claim: Handler = async ({ app, args, flags, io }) => {
  const claimed = await app.call("task.claim", { id: word(args["task-id"]), by: text(flags.by) });
  if (!claimed.ok) return claimed;
  const { id, claimedBy } = claimed.value.task;
  const line = `${successLine(io.paint, "Claimed task", id)} for ${claimedBy}`;
  return ok({ json: { task: taskView(claimed.value) }, text: line, quietText: id });
};

export const close: Handler = async ({ app, args, flags, io }) => {
  const closed = await app.call("task.close", { id: word(args["task-id"]), reason: text(flags.reason) });
  if (!closed.ok) return closed;
  const { ready, completedGroups, ...detail } = closed.value;
  const lines = [
    successLine(io.paint, "Closed task", detail.task.id),
    ...completedGroups.map((group) => successLine(io.paint, `Group complete: ${visibleLine(group.name)}`, group.id)),
    ...readyLines(io.paint, ready),
  ];
  return ok({
    json: closedTaskView(closed.value),
    text: lines.join("\n"),
    quietText: detail.task.id,
  });
};

export const drop: Handler = async ({ app, args, flags, io }) => {
  const dropped = await app.call("task.drop", {
    id: word(args["task-id"]),
    reason: word(flags.reason),
    withDependents: isOn(flags["with-dependents"]),
  });
  if (!dropped.ok) return dropped;
  const { task, alreadyDropped, alsoDropped, completedGroups, ready, kept, unserved, told, agents, which } =
    dropped.value;
  const { paint } = io;
  const lines = [
    alreadyDropped ? `${paint.accent(task.id)} was dropped already` : successLine(paint, "Dropped task", task.id),
    ...(alsoDropped.length === 0 ? [] : [hintLine(paint, `dropped with it: ${alsoDropped.join(", ")}`)]),
    ...agents.map(({ agentName, stopped }) =>
      stopped
        ? successLine(paint, "Stopped", agentName)
        : warningLine(paint, `${agentName} is being stopped`, "the engine goes on with it: ov status"),
    ),
    ...kept.map((work) => hintLine(paint, visibleLine(keptWords(work)))),
    ...completedGroups.map((group) => successLine(paint, `Group complete: ${visibleLine(group.name)}`, group.id)),
    ...readyLines(paint, ready),
    ...unserved.map((number) =>
      warningLine(
        paint,
        `no task serves criterion ${number} any more`,
        `plan it anew, or: ov run criteria waive ${number}${which} --reason "<why>"`,
      ),
    ),
    ...(told.length === 0 ? [] : [hintLine(paint, `told: ${told.join(", ")}`)]),
  ];
  const exit = agents.every(({ stopped }) => stopped) ? exits.ok : exits.timeout;
  return ok({ json: droppedTaskView(dropped.value), text: lines.join("\n"), quietText: task.id, exit });
};

function keptWords({ agentName, branch, commits, offBranch, uncommitted }: KeptWork): string {
  const inSnapshot = [
    ...(offBranch === 0 ? [] : [`${counted(offBranch, "commit")} that its branch lacks`]),
    ...(uncommitted ? ["its uncommitted changes"] : []),
  ].join(" and ");
  const work = [
    ...(branch === null || commits === 0 ? [] : [`${counted(commits, "commit")} of ${agentName} on ${branch}`]),
    ...(inSnapshot === "" ? [] : [`${inSnapshot} as a snapshot (ov snapshots list --agent ${agentName})`]),
  ];
  return work.length === 0 ? `${agentName} left no work` : `kept: ${work.join(", ")}`;
}

export const reopen: Handler = async ({ app, args, io }) => {
  const reopened = await app.call("task.reopen", { id: word(args["task-id"]) });
  if (!reopened.ok) return reopened;
  const { id } = reopened.value.task;
  const line = successLine(io.paint, "Reopened task", id);
  return ok({ json: { task: taskView(reopened.value) }, text: line, quietText: id });
};

export const add: Handler = async (call) => {
  const ends = endsOf(call);
  const added = await call.app.call("task.addDependency", ends);
  if (!added.ok) return added;
  const { changed } = added.value;
  const words = changed ? "now waits for" : "already waits for";
  return ok(outcome(call, added.value, `${ends.taskId} ${words} ${ends.dependsOn}`));
};

export const rm: Handler = async (call) => {
  const ends = endsOf(call);
  const removed = await call.app.call("task.removeDependency", ends);
  if (!removed.ok) return removed;
  const { changed } = removed.value;
  const words = changed ? "no longer waits for" : "did not wait for";
  return ok(outcome(call, removed.value, `${ends.taskId} ${words} ${ends.dependsOn}`));
};

const endsOf = ({ args }: Call) => ({ taskId: word(args["task-id"]), dependsOn: word(args["depends-on"]) });

function outcome({ io }: Call, reply: DependencyReply, sentence: string): Outcome {
  const json = { task: taskView(reply), changed: reply.changed };
  return { json, text: successLine(io.paint, sentence), quietText: "" };
}

const defaultFile = ".seeds/issues.jsonl";
const standard = "-";

export const importFile: Handler = async (call) => {
  const { app, io } = call;
  const given = await input(call);
  if (!given.ok) return given;
  const imported = await app.call("task.import", { text: given.value });
  if (!imported.ok) return imported;
  const { created, updated, unchanged, unknownDependencies, ready } = imported.value;
  for (const { taskId, dependsOn } of unknownDependencies) {
    io.warn(`left out: ${visibleLine(taskId)} waits for ${visibleLine(dependsOn)}, but one of them does not exist`);
  }
  const counts = `${created.length} new, ${updated.length} updated, ${unchanged} unchanged`;
  return ok({
    json: importedTasksView(imported.value),
    text: [successLine(io.paint, `Imported tasks: ${counts}`), ...readyLines(io.paint, ready)].join("\n"),
    quietText: "",
  });
};

export const exportFile: Handler = async ({ app, args, io }) => {
  const path = text(args.file) ?? defaultFile;
  const toOutput = path === standard;
  const place = placeOf(args.file);
  const there = toOutput ? undefined : await app.call("file.read", { path, at: place });
  if (there?.ok === false) return there;
  const exported = await app.call("task.export", { existing: there?.value.text });
  if (!exported.ok) return exported;
  const { tasks, kept } = exported.value;
  if (toOutput) return ok({ json: { path: null, tasks, kept, text: exported.value.text }, text: exported.value.text });
  const written = await app.call("file.write", { path, text: exported.value.text, at: place });
  if (!written.ok) return written;
  const others =
    kept === 0 ? "" : `; kept ${counted(kept, "line")} of the file that ${kept === 1 ? "is" : "are"} newer or not ours`;
  return ok({
    json: { path, tasks, kept },
    text: successLine(io.paint, `Exported ${counted(tasks, "task")}${others} to`, path),
    quietText: path,
  });
};

async function input({ app, args, io }: Call): Promise<Result<string, Refusal>> {
  const path = text(args.file) ?? defaultFile;
  if (path !== standard) {
    const read = await app.call("file.read", { path, at: placeOf(args.file) });
    if (!read.ok) return read;
    if (read.value.text !== undefined) return ok(read.value.text);
    const isTyped = text(args.file) !== undefined;
    const problem = isTyped ? "does not exist" : "does not exist in the root of the project";
    return no(invalid("file", problem, { value: isTyped ? read.value.path : path }));
  }
  const given = await io.stdin();
  return given === undefined ? no(invalid("file", "is -, but nothing was piped in")) : ok(given);
}

/** The default file is the project's, wherever in it the command was typed. */
const placeOf = (typed: Call["args"][string]): "project" | "typed" => (text(typed) === undefined ? "project" : "typed");

export function taskRows(details: readonly TaskDetail[]): Rows {
  return {
    columns: ["ID", "P", "STATUS", "TYPE", "HOLDER", "TITLE"],
    cells: details.map(({ task, waitsFor }) => [
      task.id,
      String(task.priority),
      task.status === "open" && waitsFor.length > 0 ? `blocked by ${waitsFor.join(", ")}` : task.status,
      task.type,
      task.claimedBy ?? task.assignee ?? "-",
      task.title,
    ]),
    objects: details.map(taskView),
  };
}

/** One task on one line, for the answers of other commands. */
const taskLine = (paint: Paint, { task }: TaskDetail): string =>
  `  ${paint.accent(task.id)}  P${task.priority}  ${visibleLine(task.title)}`;

/** What became ready, or nothing. */
function readyLines(paint: Paint, ready: readonly TaskDetail[]): readonly string[] {
  return ready.length === 0 ? [] : [paint.bold("Ready now:"), ...ready.map((detail) => taskLine(paint, detail))];
}

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("task.list", {
    status: text(flags.status),
    runId: text(flags.run),
    all: isOn(flags.all),
    limit: integer(flags.limit),
  });
  if (!found.ok) return found;
  const isNarrow = flags.status !== undefined || flags.run !== undefined;
  const asked = isNarrow ? "No such tasks." : isOn(flags.all) ? "No tasks." : "No open tasks.";
  const all = isOn(flags.all) && !isNarrow ? "" : "see all: ov task list --all; ";
  return ok(listing(io, found.value.tasks, [asked, `${all}add one: ov task create "<title>"`]));
};

export const ready: Handler = async ({ app, flags, io }) => {
  const found = await app.call("task.ready", { limit: integer(flags.limit) });
  if (!found.ok) return found;
  return ok(listing(io, found.value.tasks, ["Nothing is ready.", "see what the tasks wait for: ov task list"]));
};

function listing(io: Io, details: readonly TaskDetail[], empty: readonly [string, string]): Outcome {
  const rows = taskRows(details);
  const nothing = `${empty[0]}\n${hintLine(io.paint, empty[1])}`;
  return { json: { tasks: details.map(taskView) }, text: details.length === 0 ? nothing : table(rows, io.paint), rows };
}

export const write: Handler = async ({ app, args, flags, io }) => {
  const written = await app.call("spec.write", {
    taskId: word(args["task-id"]),
    body: text(flags.body) ?? (await io.stdin()) ?? "",
    agent: text(flags.agent),
  });
  if (!written.ok) return written;
  const { taskId, path, isKnown } = written.value;
  if (!isKnown) {
    const make = `ov task create "<title>" --id ${taskId}`;
    io.warn(`there is no task ${taskId}; if no other tracker has it, see ov task list, or make it: ${make}`);
  }
  return ok({
    json: { taskId, path },
    text: `${successLine(io.paint, "Spec written", taskId)}\n${path}`,
    quietText: path,
  });
};

export const read: Handler = async ({ app, args }) => {
  const found = await app.call("spec.read", { taskId: word(args["task-id"]) });
  if (!found.ok) return found;
  return ok({ json: specView(found.value), text: visibleText(found.value.text) });
};
