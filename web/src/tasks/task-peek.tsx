import { Link, useLocation } from "@tanstack/react-router";
import { MoreHorizontal } from "lucide-react";
import { AgentState } from "../agents/agent-state.tsx";
import { useAgents, useTasks } from "../api/resources.ts";
import { useUrl } from "../state/url.ts";
import { Button } from "../ui/controls.tsx";
import { Menu } from "../ui/overlays.tsx";
import { FactList, PeekHead } from "../ui/peek.tsx";
import { Prose } from "../ui/prose.tsx";
import { withTurns } from "../ui/safe-text.ts";
import { Shown } from "../ui/states.tsx";
import { Age, Facts, Middle } from "../ui/text.tsx";
import { columns, useTaskActions } from "./task-actions.ts";
import { TaskPanels } from "./task-forms.tsx";
import css from "./task-peek.module.css";

/** A task in short: what it is, what it waits for, who holds it, where its work is. */
export default function TaskPeek({ id }: { id: string }) {
  const query = useTasks();
  const { agents = [] } = useAgents();
  const { sling, itemsFor, offline } = useTaskActions();
  // The page of tasks has the panels already.
  const { pathname } = useLocation();
  return (
    <Shown what={`task ${id}`} query={query}>
      {({ items }) => {
        const task = items.find((each) => each.id === id);
        if (task === undefined) return <PeekHead title={id}>There is no such task.</PeekHead>;
        const agent = agents.find(({ name }) => name === task.claimedBy) ?? agents.find(({ taskId }) => taskId === id);
        const column = columns.find((each) => each.id === task.column)?.title ?? task.column;
        const titleOf = (other: string) => items.find((each) => each.id === other)?.title ?? "";
        return (
          <>
            <PeekHead title={withTurns(task.title)}>
              <span className={css.meta}>
                <Facts
                  facts={[
                    <code key="id">{task.id}</code>,
                    column,
                    task.mergeState === "none" ? null : `branch ${task.mergeState}`,
                    `priority ${task.priority}`,
                    task.type === "task" ? null : task.type,
                  ]}
                />
              </span>
              <div className={css.actions}>
                <Button
                  keys="s"
                  whyNot={
                    offline ?? (task.column === "ready" ? undefined : "Only a ready task can be given to an agent")
                  }
                  onClick={() => sling(task)}
                >
                  Sling an agent
                </Button>
                <Menu label={`Actions on ${id}`} items={itemsFor(task)}>
                  <Button aria-label={`Actions on ${id}`}>
                    <MoreHorizontal size="1em" />
                  </Button>
                </Menu>
              </div>
            </PeekHead>
            {task.description === null || task.description === "" ? null : (
              <div className={css.text}>
                <Prose text={task.description} />
              </div>
            )}
            <FactList
              facts={[
                ["Agent", agent === undefined ? null : <AgentState key="state" agent={agent} />],
                [
                  "Held by",
                  agent === undefined ? null : (
                    <Link key="agent" to={`/agents/${agent.name}` as never}>
                      {agent.name}
                    </Link>
                  ),
                ],
                ["Branch", agent?.branch ? <Middle key="branch" text={agent.branch} /> : null],
                ["Waits for", links(task.blockedBy, titleOf, task.waitsFor)],
                ["Blocks", links(task.blocks, titleOf)],
                ["Part of", task.parentId === null ? null : links([task.parentId], titleOf)],
                [
                  "Serves",
                  task.criteria.length === 0
                    ? null
                    : task.criteria.map(({ number, text }) => `${number}. ${text}`).join(" "),
                ],
                ["Files", task.files.length === 0 ? null : task.files.join(", ")],
                ["Shares", task.shares.length === 0 ? null : task.shares.join(", ")],
                ["Labels", task.labels.join(", ")],
                ["Closed", task.closeReason],
                ["Made", <Age key="made" at={task.createdAt} form="span" />],
                ["Changed", <Age key="changed" at={task.updatedAt} form="span" />],
                ["Mail", <MailLink key="mail" id={id} />],
              ]}
            />
            {pathname === "/tasks" || pathname === "/fleet" ? null : <TaskPanels />}
          </>
        );
      }}
    </Shown>
  );
}

const MailLink = ({ id }: { id: string }) => (
  <Link to="/mail" search={{ box: "all", q: id } as never}>
    Mail that names it
  </Link>
);

/** Tasks by their ids; those that are still open are told apart from the closed ones. */
function links(ids: readonly string[], titleOf: (id: string) => string, open?: readonly string[]) {
  if (ids.length === 0) return null;
  return (
    <ul className={css.links}>
      {ids.map((id) => (
        <li key={id}>
          <PeekLink id={id} /> {withTurns(titleOf(id))}
          {open === undefined ? "" : open.includes(id) ? " (open)" : " (closed)"}
        </li>
      ))}
    </ul>
  );
}

function PeekLink({ id }: { id: string }) {
  const { set } = useUrl();
  return (
    <button type="button" className={css.link} onClick={() => set({ peek: `task:${id}` })}>
      {id}
    </button>
  );
}
