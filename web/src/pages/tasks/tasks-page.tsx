import { useEffect, useMemo } from "react";
import { useAgents, useOverview, useTasks } from "../../api/resources.ts";
import type { Task } from "../../api/types.ts";
import { useCommands } from "../../state/commands.ts";
import { useIsPhone } from "../../state/media.ts";
import { useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { columns, useTaskActions } from "../../tasks/task-actions.ts";
import { TaskPanels } from "../../tasks/task-forms.tsx";
import { openTaskPanel } from "../../tasks/task-panels.ts";
import { Button, Choice, Filter } from "../../ui/controls.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { type BoardColumn, TaskBoard } from "./task-board.tsx";
import { TaskList } from "./task-list.tsx";

const groupings = ["status", "agent", "none"] as const;
type Grouping = (typeof groupings)[number];
const groupWords: Readonly<Record<Grouping, string>> = { status: "By state", agent: "By agent", none: "List" };

/** All work that is known: a board on a wide screen, a list on a phone. */
export default function TasksPage() {
  const { search, set, replace } = useUrl();
  const query = useTasks();
  const { data: overview } = useOverview();
  const { agents = [] } = useAgents();
  const { offline } = useTaskActions();
  const isPhone = useIsPhone();
  const group: Grouping = groupings.find((each) => each === search.group) ?? "status";
  const run = search.run ?? overview?.currentRunId ?? undefined;
  const ofRun = useMemo(
    () => (query.data?.items ?? []).filter(({ runId }) => runId === null || run === undefined || runId === run),
    [query.data, run],
  );
  const tasks = useMemo(() => matching(ofRun, search.q ?? ""), [ofRun, search.q]);
  const make = (): void => openTaskPanel({ kind: "new" });
  // A link to a task opens its short view.
  const { task, peek } = search;
  useEffect(() => {
    if (task !== undefined && peek === undefined) replace({ task: undefined, peek: `task:${task}` });
  }, [task, peek, replace]);
  useCommands("Tasks", [
    { id: "tasks.new", label: "New task", keys: "c", run: make, disabled: offline },
    {
      id: "tasks.filter",
      label: "Find tasks",
      keys: "/",
      run: () => document.querySelector<HTMLElement>("#tasks-filter")?.focus(),
    },
    ...groupings.map((each) => ({
      id: `tasks.${each}`,
      label: `Tasks: ${groupWords[each]}`,
      run: () => set({ group: each === "status" ? undefined : each }),
    })),
  ]);
  const open = ofRun.filter(({ column }) => column !== "done").length;
  const empty =
    search.q === undefined ? (
      <Empty
        why="No tasks in this run yet. The coordinator makes them from its objective, or you make one."
        action={
          <Button whyNot={offline} onClick={make}>
            New task
          </Button>
        }
        command='ov task create "title"'
      />
    ) : (
      <Empty
        why={`No tasks match ${search.q}.`}
        action={<Button onClick={() => replace({ q: undefined })}>Clear filter</Button>}
      />
    );
  const isList = group === "none" || isPhone;
  return (
    <>
      <PageHead
        title="Tasks"
        action={
          <Button look="primary" keys="c" whyNot={offline} onClick={make}>
            New task
          </Button>
        }
      >
        {isPhone ? null : (
          <Choice
            label="Grouping"
            value={group}
            options={groupings.map((each) => ({ value: each, label: groupWords[each] }))}
            onChoose={(chosen) => set({ group: chosen === "status" ? undefined : chosen })}
          />
        )}
        <Filter
          id="tasks-filter"
          label="Find tasks"
          value={search.q ?? ""}
          onChange={(q) => replace({ q: q === "" ? undefined : q })}
        />
        <span>{count(open, "open task")}</span>
      </PageHead>
      <Shown what="tasks" query={query}>
        {() =>
          isList ? (
            <TaskList tasks={tasks} agents={agents} empty={empty} />
          ) : tasks.length === 0 ? (
            empty
          ) : (
            <TaskBoard columns={group === "status" ? byState(tasks) : byAgent(tasks)} agents={agents} />
          )
        }
      </Shown>
      <TaskPanels />
    </>
  );
}

function matching(tasks: readonly Task[], q: string): readonly Task[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return tasks.filter((task) => {
    const text = `${task.id} ${task.title} ${task.claimedBy ?? ""} ${task.labels.join(" ")} ${task.type}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const byState = (tasks: readonly Task[]): readonly BoardColumn[] =>
  columns.map(({ id, title }) => ({
    id,
    title,
    isFolded: id === "done",
    tasks: sorted(tasks.filter(({ column }) => column === id)),
  }));

function byAgent(tasks: readonly Task[]): readonly BoardColumn[] {
  const open = tasks.filter(({ column }) => column !== "done");
  const held = Map.groupBy(open, ({ claimedBy, assignee }) => claimedBy ?? assignee ?? "");
  return [...held]
    .toSorted(([a], [b]) => (a === "" ? 1 : b === "" ? -1 : a.localeCompare(b)))
    .map(([name, own]) => ({ id: name, title: name === "" ? "No agent" : name, isFolded: false, tasks: sorted(own) }));
}

/** The most urgent first, then the oldest. */
const sorted = (tasks: readonly Task[]): readonly Task[] =>
  tasks.toSorted((a, b) => a.priority - b.priority || Date.parse(a.createdAt) - Date.parse(b.createdAt));
