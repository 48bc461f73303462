import { boardTaskView, closedTaskView, droppedTaskView, taskView } from "../../views/task.ts";
import { change, listOf, page, read } from "../route.ts";

/** Addresses of tasks. */
export const tasksRoutes = {
  "GET /api/tasks": read("task.list", ({ tasks }) => listOf(tasks.map(boardTaskView)), { defaults: page }),
  "GET /api/tasks/:id": read("task.show", (task) => ({ task: boardTaskView(task) })),
  "POST /api/tasks": change("task.create", (task) => ({ task: taskView(task) })),
  "POST /api/tasks/:id/close": change("task.close", closedTaskView),
  "PATCH /api/tasks/:id": change("task.update", (task) => ({ task: boardTaskView(task) })),
  "POST /api/tasks/:id/move": change("task.move", (task) => ({ task: boardTaskView(task) })),
  "POST /api/tasks/:id/drop": change("task.drop", droppedTaskView, { isLong: true }),
  "POST /api/tasks/:id/reopen": change("task.reopen", (task) => ({ task: taskView(task) })),
} as const;
