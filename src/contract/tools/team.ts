import { object } from "../../domain/schema/schema.ts";
import { choice, flag, someTexts, text, texts, whole } from "./input.ts";
import type { ToolFor } from "./tool.ts";

export const fleetScopes = ["children", "run", "all"] as const;

const group = text("Id or name of the group");
const tasks = someTexts("Ids of tasks");

/** Tools for agents that direct other agents. */
export const teamTools = {
  spawn: (role) => ({
    description:
      "Starts an agent on a task and returns at once. It owns `files`; nobody else may. Files that several must change go into `shares` of each. Its report wakes you: end your turn.",
    readOnly: false,
    input: object(
      {
        task_id: text("Task it works on; a new id where title is given"),
        capability: choice(role.spawns, "What kind of agent"),
      },
      {
        files: texts("Files or globs it owns, instead of those of its task; leave it out to take those of the task"),
        shares: texts("Files that others change too, instead of those of its task"),
        allow_overlap: flag("Accept that two agents own the same files"),
        title: text("Makes the task task_id, with this title"),
        name: text("Its name; chosen for you when left out"),
        spec: text("Path of a spec; the task's own spec when left out"),
        siblings: texts("Agents that work on neighbouring parts"),
        skip_review: flag("Its work needs no reviewer"),
        max_agents: whole({ min: 1 }, "How many agents it may start itself"),
      },
    ),
  }),
  fleet: () => ({
    description: "Shows agents: state, task, unread mail and what each waits for.",
    readOnly: true,
    input: object({}, { scope: choice(fleetScopes, "Your children (default), your run, or everybody") }),
  }),
  group_create: () => ({
    description: "Follows tasks together; you are told when all of them are closed.",
    readOnly: false,
    input: object({ name: text("Name of the group"), tasks }),
  }),
  group_status: () => ({
    description: "Shows how far a group is, or every active one.",
    readOnly: true,
    input: object({}, { group }),
  }),
  group_add: () => ({
    description: "Adds tasks to a group.",
    readOnly: false,
    input: object({ group, tasks }),
  }),
  group_remove: () => ({
    description: "Takes tasks out of a group.",
    readOnly: false,
    input: object({ group, tasks }),
  }),
} as const satisfies Record<string, ToolFor>;
