import type { Group } from "../domain/task/task.ts";
import type { GroupRows } from "../ports/store/tasks.ts";
import type { Sql } from "./sql.ts";
import { insert, integer, nullable, select, selectOne, table, text } from "./table.ts";

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
