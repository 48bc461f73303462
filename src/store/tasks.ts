import type { RunChange } from "../domain/run/change.ts";
import type { Criterion, ProofKind, TaskCriterion } from "../domain/run/checklist.ts";
import type { Run, RunStatus } from "../domain/run/run.ts";
import {
  type Group,
  type MergeState,
  type Spec,
  type Task,
  type TaskDependency,
  type TaskStatus,
  type TaskType,
  taskStatuses,
} from "../domain/task/task.ts";
import type { CriterionRows, GroupRows, RunRows, SpecRows, TaskRows } from "../ports/store/tasks.ts";
import { literals, placeholders, type Sql, type SqlValue } from "./sql.ts";
import { assign, flag, insert, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

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
  shares: json<readonly string[]>(),
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
    // By name: an index has the few that are not closed among the many that are.
    if (unclosed === true) parts.push(`status IN ${literals(taskStatuses.filter((one) => one !== "closed"))}`);
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

export const groups = table<Group>("groups", {
  id: text(),
  name: text(),
  status: text<Group["status"]>(),
  runId: nullable(text()),
  owner: text(),
  createdAt: integer,
  completedAt: nullable(integer),
});

export const groupRows = (sql: Sql): GroupRows => {
  const addMembers = async (groupId: string, taskIds: readonly string[]): Promise<void> => {
    const rows = await sql.all("SELECT MAX(position) AS last FROM group_members WHERE group_id = ?", groupId);
    let position = Number(rows[0]?.last ?? -1);
    for (const taskId of taskIds) {
      position++;
      await sql.run(
        "INSERT INTO group_members (group_id, task_id, position) VALUES (?, ?, ?)",
        groupId,
        taskId,
        position,
      );
    }
  };
  const withMember = (taskId: string, status: Group["status"]): Promise<Group[]> =>
    select(
      sql,
      groups,
      "WHERE status = ? AND id IN (SELECT group_id FROM group_members WHERE task_id = ?) ORDER BY created_at, id",
      status,
      taskId,
    );
  return {
    insert: async (group, memberIds) => {
      await insert(sql, groups, group);
      await addMembers(group.id, memberIds);
    },
    get: (id) => selectOne(sql, groups, "WHERE id = ?", id),
    byName: (name) => select(sql, groups, "WHERE name = ? ORDER BY created_at, id", name),
    list: () => select(sql, groups, "ORDER BY created_at, id"),
    members: async (groupId) => {
      const rows = await sql.all("SELECT task_id FROM group_members WHERE group_id = ? ORDER BY position", groupId);
      return rows.map((row) => String(row.task_id));
    },
    activeWith: (taskId) => withMember(taskId, "active"),
    completedWith: (taskId) => withMember(taskId, "completed"),
    addMembers,
    removeMembers: async (groupId, taskIds) => {
      for (const taskId of taskIds) {
        await sql.run("DELETE FROM group_members WHERE group_id = ? AND task_id = ?", groupId, taskId);
      }
    },
    setStatus: async (groupId, status, completedAt) => {
      await sql.run("UPDATE groups SET status = ?, completed_at = ? WHERE id = ?", status, completedAt, groupId);
    },
  };
};

export const runs = table<Run>("runs", {
  id: text(),
  objective: nullable(text()),
  targetBranch: nullable(text()),
  landingBranch: nullable(text()),
  coordinatorName: nullable(text()),
  status: text<RunStatus>(),
  checklist: flag,
  startCommit: nullable(text()),
  startedAt: integer,
  completedAt: nullable(integer),
});

export const runChanges = table<RunChange>("run_changes", {
  runId: text(),
  number: integer,
  criterion: nullable(integer),
  words: text(),
  wordsBefore: nullable(text()),
  changedBy: text(),
  changedAt: integer,
});

export const runRows = (sql: Sql): RunRows => ({
  insert: async (run) => {
    await insert(sql, runs, run);
  },
  get: (id) => selectOne(sql, runs, "WHERE id = ?", id),
  current: () => selectOne(sql, runs, "WHERE status = 'active' ORDER BY started_at DESC, id DESC LIMIT 1"),
  list: (limit) => select(sql, runs, "ORDER BY started_at DESC, id DESC LIMIT ?", limit),
  setBranches: async (id, { targetBranch, landingBranch }) => {
    await sql.run(
      "UPDATE runs SET target_branch = ?, landing_branch = ? WHERE id = ?",
      targetBranch,
      landingBranch,
      id,
    );
  },
  setStart: async (id, commit) => {
    await sql.run("UPDATE runs SET start_commit = ? WHERE id = ? AND start_commit IS NULL", commit, id);
  },
  setObjective: async (id, objective) => {
    await sql.run("UPDATE runs SET objective = ? WHERE id = ?", objective, id);
  },
  addChange: async (change) => {
    await insert(sql, runChanges, change);
  },
  changes: (id) => select(sql, runChanges, "WHERE run_id = ? ORDER BY number", id),
  complete: async (id, status, now, leftOpen = []) => {
    await sql.run("UPDATE runs SET status = ?, completed_at = ? WHERE id = ?", status, now, id);
    await sql.run("DELETE FROM run_left_open WHERE run_id = ?", id);
    for (const [number, what] of leftOpen.entries()) {
      await sql.run("INSERT INTO run_left_open (run_id, number, what) VALUES (?, ?, ?)", id, number, what);
    }
  },
  leftOpen: async (id) => {
    const rows = await sql.all("SELECT what FROM run_left_open WHERE run_id = ? ORDER BY number", id);
    return rows.map(({ what }) => String(what));
  },
  reopen: async (id) => {
    await sql.run("UPDATE runs SET status = 'active', completed_at = NULL WHERE id = ?", id);
    await sql.run("DELETE FROM run_left_open WHERE run_id = ?", id);
  },
});

export const criteria = table<Criterion>("criteria", {
  runId: text(),
  number: integer,
  text: text(),
  addedBy: text(),
  addedAt: integer,
  waivedBy: nullable(text()),
  waivedAt: nullable(integer),
  waiveReason: nullable(text()),
  proofKind: nullable(text<ProofKind>()),
  proofPath: nullable(text()),
  proofTest: nullable(text()),
  proofCommit: nullable(text()),
  provedBy: nullable(text()),
  provedAt: nullable(integer),
  checkedCommit: nullable(text()),
  proofUnchanged: flag,
  proofLost: nullable(text()),
});

export const taskCriteria = table<TaskCriterion>("task_criteria", { taskId: text(), runId: text(), number: integer });

export const criterionRows = (sql: Sql): CriterionRows => ({
  put: async (criterion) => {
    await sql.run("DELETE FROM criteria WHERE run_id = ? AND number = ?", criterion.runId, criterion.number);
    await insert(sql, criteria, criterion);
  },
  of: (runId) => select(sql, criteria, "WHERE run_id = ? ORDER BY number", runId),
  ofTask: (taskId) => select(sql, taskCriteria, "WHERE task_id = ? ORDER BY number", taskId),
  tasksOf: (runId) => select(sql, taskCriteria, "WHERE run_id = ? ORDER BY number, task_id", runId),
  all: () => select(sql, taskCriteria, "ORDER BY task_id, number"),
  serve: async (taskId, runId, numbers) => {
    await sql.run("DELETE FROM task_criteria WHERE task_id = ?", taskId);
    for (const number of new Set(numbers)) await insert(sql, taskCriteria, { taskId, runId, number });
  },
});
