import type { MergeState, Spec, Task, TaskDependency, TaskStatus, TaskType } from "../domain/task/task.ts";
import type { SpecRows, TaskRows } from "../ports/store/tasks.ts";
import { placeholders, type Sql, type SqlValue } from "./sql.ts";
import { assign, insert, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

export const tasks = table<Task>("tasks", {
  id: text(),
  title: text(),
  status: text<TaskStatus>(),
  type: text<TaskType>(),
  priority: integer,
  description: nullable(text()),
  assignee: nullable(text()),
  labels: json<readonly string[]>(),
  files: json<readonly string[]>(),
  parentId: nullable(text()),
  runId: nullable(text()),
  claimedBy: nullable(text()),
  claimExpires: nullable(integer),
  mergeState: text<MergeState>(),
  closeReason: nullable(text()),
  createdAt: integer,
  updatedAt: integer,
  closedAt: nullable(integer),
});

export const taskDeps = table<TaskDependency>("task_deps", { taskId: text(), dependsOn: text() });

export const specs = table<Spec>("specs", {
  taskId: text(),
  path: text(),
  author: nullable(text()),
  digest: text(),
  updatedAt: integer,
});

export const taskRows = (sql: Sql): TaskRows => ({
  insert: async (task) => {
    await insert(sql, tasks, task);
  },
  get: (id) => selectOne(sql, tasks, "WHERE id = ?", id),
  update: async (task) => {
    const { id, ...change } = task;
    const { set, values } = assign(tasks, change);
    await sql.run(`UPDATE tasks SET ${set} WHERE id = ?`, ...values, id);
  },
  list: ({ status, unclosed, runId, limit }) => {
    const parts: string[] = [];
    const values: SqlValue[] = [];
    if (status !== undefined) {
      parts.push("status = ?");
      values.push(status);
    }
    if (unclosed === true) parts.push("status <> 'closed'");
    if (runId !== undefined) {
      parts.push("run_id = ?");
      values.push(runId);
    }
    const where = parts.length === 0 ? "" : `WHERE ${parts.join(" AND ")}`;
    return select(sql, tasks, `${where} ORDER BY priority, created_at, id LIMIT ?`, ...values, limit ?? 1_000_000);
  },
  ids: async () => (await sql.all("SELECT id FROM tasks")).map((row) => String(row.id)),
  dependencies: () => select(sql, taskDeps, "ORDER BY task_id, depends_on"),
  dependenciesOf: (taskId) => select(sql, taskDeps, "WHERE task_id = ? ORDER BY depends_on", taskId),
  dependentsOf: (taskId) => select(sql, taskDeps, "WHERE depends_on = ? ORDER BY task_id", taskId),
  addDependency: async (dependency) => {
    await insert(sql, taskDeps, dependency, "ON CONFLICT DO NOTHING");
  },
  removeDependency: async ({ taskId, dependsOn }) =>
    (await sql.run("DELETE FROM task_deps WHERE task_id = ? AND depends_on = ?", taskId, dependsOn)) > 0,
});

export const specRows = (sql: Sql): SpecRows => ({
  put: async (spec) => {
    await sql.run("DELETE FROM specs WHERE task_id = ?", spec.taskId);
    await insert(sql, specs, spec);
  },
  get: (taskId) => selectOne(sql, specs, "WHERE task_id = ?", taskId),
  inUse: async (digests) => {
    const rows = await sql.all(`SELECT digest FROM specs WHERE digest IN ${placeholders(digests.length)}`, ...digests);
    return new Set(rows.map((row) => String(row.digest)));
  },
});
