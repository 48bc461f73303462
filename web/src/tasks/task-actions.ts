import { useMemo } from "react";
import { useAct, useWhyNot } from "../api/actions.ts";
import type { Task } from "../api/types.ts";
import { toast } from "../state/toasts.ts";
import { count } from "../state/words.ts";
import { confirm, type MenuItem } from "../ui/overlays.tsx";
import { openTaskPanel } from "./task-panels.ts";

export const columns = [
  { id: "waiting", title: "Waiting" },
  { id: "ready", title: "Ready" },
  { id: "working", title: "In work" },
  { id: "review", title: "In review" },
  { id: "queued", title: "Queued" },
  { id: "done", title: "Done" },
] as const;
export type ColumnId = (typeof columns)[number]["id"];

/** What can be done with a task, wherever it is shown. The server says which moves it allows, and why not the others. */
export function useTaskActions() {
  const act = useAct();
  const offline = useWhyNot();
  return useMemo(() => {
    const path = (task: Task, verb: string): string => `/api/tasks/${encodeURIComponent(task.id)}/${verb}`;
    const whyNotTo = (task: Task, to: ColumnId): string | undefined =>
      offline ?? task.moves.find((move) => move.to === to)?.whyNot ?? undefined;
    const move = (task: Task, to: ColumnId): void => {
      const whyNot = whyNotTo(task, to);
      const title = columns.find(({ id }) => id === to)?.title ?? to;
      if (whyNot !== undefined) toast(`${task.id} cannot be moved to ${title}: ${whyNot}.`);
      else
        void act({
          what: `move ${task.id} to ${title}`,
          method: "POST",
          path: path(task, "move"),
          body: { to },
          done: `${task.id} is in ${title} now.`,
        });
    };
    /** One column to the left or right. */
    const shift = (task: Task, by: 1 | -1): void => {
      const next = columns[columns.findIndex(({ id }) => id === task.column) + by];
      if (next !== undefined) move(task, next.id);
    };
    const drop = (task: Task): void =>
      confirm({
        title: `Drop ${task.id}?`,
        effects: [
          task.title,
          ...(task.claimedBy === null
            ? []
            : [`${task.claimedBy} is stopped and let go. Its branch and files are kept.`]),
          ...(task.blocks.length === 0
            ? []
            : [
                `${count(task.blocks.length, "task")} that waited for it can start without it: ${task.blocks.join(", ")}.`,
              ]),
          "Parts of it are dropped with it. A dropped task can be reopened.",
        ],
        words: { label: "Why it is dropped" },
        verb: `Drop ${task.id}`,
        run: (reason) =>
          void act({
            what: `drop ${task.id}`,
            method: "POST",
            path: path(task, "drop"),
            body: { reason },
            done: `${task.id} is dropped.`,
          }),
      });
    const whyNoSling = (task: Task): string | undefined =>
      offline ?? (task.column === "ready" ? undefined : "Only a ready task can be given to an agent");
    const itemsFor = (task: Task): readonly (MenuItem | undefined)[] => [
      {
        label: "Sling an agent",
        run: () => openTaskPanel({ kind: "sling", task }),
        keys: "s",
        whyNot: whyNoSling(task),
      },
      task.column === "done"
        ? { label: "Reopen", run: () => move(task, "ready"), whyNot: whyNotTo(task, "ready") }
        : { label: "Close", run: () => move(task, "done"), whyNot: whyNotTo(task, "done") },
      ...(task.column === "ready" ? [{ label: "Hold back", run: () => move(task, "waiting"), whyNot: offline }] : []),
      ...(task.column === "waiting"
        ? [{ label: "Make ready", run: () => move(task, "ready"), whyNot: whyNotTo(task, "ready") }]
        : []),
      undefined,
      {
        label: "Drop",
        run: () => drop(task),
        danger: true,
        whyNot: offline ?? (task.column === "done" ? "It is done" : undefined),
      },
    ];
    const sling = (task: Task): void => {
      const whyNot = whyNoSling(task);
      if (whyNot === undefined) openTaskPanel({ kind: "sling", task });
      else toast(`${task.id}: ${whyNot.toLowerCase()}.`);
    };
    return { offline, move, whyNotTo, shift, drop, sling, itemsFor };
  }, [act, offline]);
}
