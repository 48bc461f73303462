import type { Task } from "../api/types.ts";
import { createStore, useStore } from "../state/store.ts";

/** What is open over the page: a new task, an agent for one, or an agent for a task that is still to be chosen. */
export type TaskPanel = { readonly kind: "new" | "agent" } | { readonly kind: "sling"; readonly task: Task };

const panel = createStore<TaskPanel | undefined>(undefined);

export const openTaskPanel = (next: TaskPanel): void => panel.set(next);
export const closeTaskPanel = (): void => panel.set(undefined);
export const useTaskPanel = (): TaskPanel | undefined => useStore(panel);
