import { type ReactNode, useCallback, useMemo, useState } from "react";
import { agentLook } from "../../agents/agent-look.ts";
import type { Agent, Task } from "../../api/types.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { columns as places, useTaskActions } from "../../tasks/task-actions.ts";
import { Glyph } from "../../ui/glyph.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { withTurns } from "../../ui/safe-text.ts";
import { Age } from "../../ui/text.tsx";
import { mergeLook } from "./task-board.tsx";
import css from "./tasks-page.module.css";

const idOf = ({ id }: Task): string => id;
const nameOf = ({ id, title }: Task): string => `${id} ${title}`;
const parentOf = ({ parentId }: Task): string | null => parentId;
const placeOf = ({ column }: Task): number => places.findIndex(({ id }) => id === column);
const placeWord = (task: Task): string => places[placeOf(task)]?.title ?? task.column;
const toneOf = (task: Task) => (mergeLook(task)?.tone === "bad" ? "bad" : undefined);

/** Tasks as a list: parts under their whole, open work first. */
export function TaskList({
  tasks,
  agents,
  empty,
}: {
  tasks: readonly Task[];
  agents: readonly Agent[];
  empty: ReactNode;
}) {
  const { set } = useUrl();
  const actions = useTaskActions();
  const [focusedId, setFocused] = useState<string>();
  const rows = useMemo(
    () =>
      tasks.toSorted(
        (a, b) =>
          placeOf(a) - placeOf(b) || a.priority - b.priority || Date.parse(a.createdAt) - Date.parse(b.createdAt),
      ),
    [tasks],
  );
  const current = rows.find(({ id }) => id === focusedId);
  useCommands(
    "Task",
    current === undefined
      ? []
      : [
          { id: "task.sling", label: `Sling an agent on ${current.id}`, keys: "s", run: () => actions.sling(current) },
          {
            id: "task.right",
            label: `Move ${current.id} on`,
            keys: "Shift+ArrowRight",
            run: () => actions.shift(current, 1),
          },
          {
            id: "task.left",
            label: `Move ${current.id} back`,
            keys: "Shift+ArrowLeft",
            run: () => actions.shift(current, -1),
          },
        ],
  );
  const columns = useMemo<readonly Column<Task>[]>(
    () => [
      { id: "id", header: "Task", width: "minmax(12ch, 18ch)", cell: ({ id }) => <code>{id}</code> },
      {
        id: "title",
        header: "Title",
        width: "minmax(20ch, 1fr)",
        cell: ({ title }) => (
          <span className={css.lineTitle} title={withTurns(title)}>
            {withTurns(title)}
          </span>
        ),
      },
      { id: "state", header: "State", width: "16ch", cell: (task) => <State task={task} /> },
      {
        id: "agent",
        header: "Agent",
        width: "16ch",
        from: 60,
        cell: (task) => <Holder task={task} agents={agents} />,
      },
      {
        id: "waits",
        header: "Waits for",
        width: "16ch",
        from: 70,
        cell: ({ waitsFor }) => <span title={waitsFor.join(", ")}>{waitsFor.join(", ")}</span>,
      },
      { id: "priority", header: "Prio", width: "5ch", align: "end", from: 50, cell: ({ priority }) => priority },
      { id: "age", header: "Age", width: "6ch", align: "end", cell: ({ createdAt }) => <Age at={createdAt} /> },
    ],
    [agents],
  );
  const narrow = useCallback(
    (task: Task) => (
      <span className={css.line}>
        <span className={css.lineTop}>
          <span className={css.lineTitle}>{withTurns(task.title)}</span>
          <Age at={task.updatedAt} />
        </span>
        <span className={css.lineTop}>
          <State task={task} />
          <code>{task.id}</code>
        </span>
      </span>
    ),
    [],
  );
  return (
    <Grid
      label="Tasks"
      rows={rows}
      idOf={idOf}
      nameOf={nameOf}
      parentOf={rows.some(({ parentId }) => parentId !== null) ? parentOf : undefined}
      columns={columns}
      toneOf={toneOf}
      narrow={narrow}
      onOpen={(task) => set({ peek: `task:${task.id}` })}
      onPeek={(task) => set({ peek: `task:${task.id}` })}
      actionsOf={actions.itemsFor}
      onFocusRow={useCallback((task: Task | undefined) => setFocused(task?.id), [])}
      empty={empty}
    />
  );
}

function State({ task }: { task: Task }) {
  const merge = mergeLook(task);
  return (
    <span className={css.agent} data-tone={merge?.tone}>
      {merge === undefined ? null : <Glyph name={merge.glyph} tone={merge.tone} word={merge.word} />} {placeWord(task)}
    </span>
  );
}

function Holder({ task, agents }: { task: Task; agents: readonly Agent[] }) {
  const agent = agents.find(({ name }) => name === task.claimedBy);
  if (agent === undefined) return task.claimedBy;
  const { glyph, tone, word } = agentLook(agent, Date.now());
  return (
    <span className={css.agent} data-tone={tone}>
      <Glyph name={glyph} tone={tone} word={word} /> {agent.name}
    </span>
  );
}
