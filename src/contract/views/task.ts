import type { Advice } from "../../domain/coordination/advice.ts";
import { boardColumns, boardMove, columnOf } from "../../domain/task/board.ts";
import type { Group } from "../../domain/task/task.ts";
import type { GroupDetail, GroupStatus } from "../../usecases/groups/read-groups.ts";
import type { ReadSpecReply } from "../../usecases/specs/specs.ts";
import type { CloseTaskReply } from "../../usecases/tasks/close-task.ts";
import type { DropReply } from "../../usecases/tasks/drop-task.ts";
import type { ImportTasksReply } from "../../usecases/tasks/exchange.ts";
import type { TaskDetail } from "../../usecases/tasks/task-detail.ts";
import { olderGroupKeys, olderProgressKeys } from "../older-keys.ts";
import { iso } from "../values.ts";

/** A task with its place among the others. */
export const taskView = ({ task, blocks, blockedBy, waitsFor, criteria }: TaskDetail) => ({
  id: task.id,
  title: task.title,
  status: task.status,
  priority: task.priority,
  type: task.type,
  assignee: task.assignee,
  description: task.description,
  blocks,
  blockedBy,
  waitsFor,
  labels: task.labels,
  createdAt: iso(task.createdAt),
  updatedAt: iso(task.updatedAt),
  closedAt: iso(task.closedAt),
  closeReason: task.closeReason,
  claimedBy: task.claimedBy,
  claimExpires: iso(task.claimExpires),
  parentId: task.parentId,
  mergeState: task.mergeState,
  files: task.files,
  shares: task.shares,
  criteria: criteria.map(({ number, text }) => ({ number, text })),
  runId: task.runId,
});

/** A task on the board: its column, and for each other column why it cannot be moved there by hand; null where it can. */
export const boardTaskView = (detail: TaskDetail) => {
  const { task, waitsFor } = detail;
  const column = columnOf(task, waitsFor);
  const moves = boardColumns
    .filter((to) => to !== column)
    .map((to) => {
      const move = boardMove(task, waitsFor, to);
      return { to, whyNot: "whyNot" in move ? move.whyNot : null };
    });
  return { ...taskView(detail), column, moves };
};

/** A task that was closed, with what can be started now. */
export const closedTaskView = ({ ready, completedGroups, ...detail }: CloseTaskReply) => ({
  task: taskView(detail),
  ready: ready.map(taskView),
  completedGroups: completedGroups.map(groupName),
});

/** A task that was dropped, with what went with it. `stopped`: its agents that have ended by it. */
export const droppedTaskView = (reply: DropReply) => ({
  task: taskView(reply),
  alreadyDropped: reply.alreadyDropped,
  alsoDropped: reply.alsoDropped,
  agents: reply.agents.map(({ agentName, capability, stopped }) => ({ agentName, capability, stopped })),
  kept: reply.kept.map(({ agentName, branch, commits, offBranch, uncommitted }) => ({
    agentName,
    branch,
    commits,
    offBranch,
    uncommitted,
  })),
  ready: reply.ready.map(taskView),
  completedGroups: reply.completedGroups.map(groupName),
  unserved: reply.unserved,
  told: reply.told,
});

/** What became of tasks that were read from a file. */
export const importedTasksView = (reply: ImportTasksReply) => ({
  created: reply.created,
  updated: reply.updated,
  unchanged: reply.unchanged,
  unknownDependencies: reply.unknownDependencies,
  ready: reply.ready.map(taskView),
  completedGroups: reply.completedGroups.map(groupName),
});

const groupName = ({ id, name }: Group) => ({ id, name });

export const groupView = ({ group, memberIds }: GroupDetail) => ({
  id: group.id,
  name: group.name,
  status: group.status,
  tasks: memberIds,
  owner: group.owner,
  runId: group.runId,
  createdAt: iso(group.createdAt),
  completedAt: iso(group.completedAt),
  ...olderGroupKeys(memberIds),
});

/** A group with how far its tasks are. */
export const groupProgressView = (status: GroupStatus) => ({
  ...groupView(status),
  group: groupView(status),
  progress: status.progress,
  ...olderProgressKeys(status.progress),
});

/** The specification of a task. */
export const specView = ({ taskId, path, text, author, updatedAt }: ReadSpecReply) => ({
  taskId,
  path,
  text,
  author,
  updatedAt: iso(updatedAt),
});

/** How far it pays to work on the open tasks in parallel. `lines`: the same in sentences. */
export const adviceView = (advice: Advice, lines: readonly string[]) => ({
  verdict: advice.verdict,
  openTasks: advice.openTasks,
  readyTasks: advice.readyTasks,
  criticalPath: advice.criticalPath,
  width: advice.width,
  clusters: advice.clusters,
  withoutFiles: advice.withoutFiles,
  builders: advice.builders,
  roundsAlone: advice.roundsAlone,
  rounds: advice.rounds,
  advice: lines,
});
