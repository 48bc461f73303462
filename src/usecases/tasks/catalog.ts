/** The use cases about tasks, loaded when called. */
export const taskUseCases = {
  "task.create": async () => (await import("./create-task.ts")).createTask,
  "task.list": async () => (await import("./read-tasks.ts")).listTasks,
  "task.show": async () => (await import("./read-tasks.ts")).showTask,
  "task.ready": async () => (await import("./read-tasks.ts")).listReady,
  "task.update": async () => (await import("./update-task.ts")).updateTask,
  "task.claim": async () => (await import("./claim-task.ts")).claimTask,
  "task.close": async () => (await import("./close-task.ts")).closeTask,
  "task.reopen": async () => (await import("./reopen-task.ts")).reopenTask,
  "task.addDependency": async () => (await import("./change-dependency.ts")).addDependency,
  "task.removeDependency": async () => (await import("./change-dependency.ts")).removeDependency,
  "task.import": async () => (await import("./import-tasks.ts")).importTasks,
  "task.export": async () => (await import("./exchange.ts")).exportTasks,
} as const;
