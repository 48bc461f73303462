import { agentLook } from "../../agents/agent-look.ts";
import { AgentState, NowLine } from "../../agents/agent-state.tsx";
import type { Agent } from "../../api/types.ts";
import { count, shortCommit } from "../../state/words.ts";
import type { Column } from "../../ui/grid.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { Age, Middle, Money } from "../../ui/text.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import css from "./fleet-page.module.css";

const time = (at: string | null): number => (at === null ? 0 : Date.parse(at));

/** The orders of the fleet. Attention: the states that need a person first, done last. */
export const sorts = {
  attention: (a: Agent, b: Agent) => agentLook(a, 0).rank - agentLook(b, 0).rank,
  name: (a: Agent, b: Agent) => a.name.localeCompare(b.name),
  cost: (a: Agent, b: Agent) => (b.costUsd ?? 0) - (a.costUsd ?? 0),
  age: (a: Agent, b: Agent) => time(a.startedAt) - time(b.startedAt),
  last: (a: Agent, b: Agent) => time(b.lastActivity) - time(a.lastActivity),
  turns: (a: Agent, b: Agent) => b.turns - a.turns,
} as const;
export type FleetSort = keyof typeof sorts;

const name: Column<Agent> = {
  id: "name",
  header: "Name",
  width: "minmax(18ch, 26ch)",
  sortable: true,
  cell: (agent) => (
    <span className={css.name}>
      <Middle text={agent.name} tail={8} />
      {agent.generation > 1 ? <span className="faint"> g{agent.generation}</span> : null}
    </span>
  ),
};

const shared: readonly Column<Agent>[] = [
  { id: "attention", header: "State", width: "20ch", sortable: true, cell: (agent) => <AgentState agent={agent} /> },
  { id: "now", header: "Now, or why it waits", width: "minmax(16ch, 3fr)", cell: (agent) => <NowLine agent={agent} /> },
  {
    id: "task",
    header: "Task",
    width: "minmax(8ch, 1fr)",
    from: 56,
    cell: (agent) => (agent.taskId === null ? null : <Middle text={agent.taskId} />),
  },
  {
    id: "branch",
    header: "Branch",
    width: "minmax(10ch, 1.5fr)",
    from: 76,
    cell: (agent) => (agent.branch === null ? null : <Middle text={agent.branch} />),
  },
  {
    id: "ahead",
    header: "Ahead",
    width: "6ch",
    align: "end",
    from: 56,
    cell: (agent) => <Ahead agent={agent} />,
  },
  {
    id: "cost",
    header: "Cost",
    width: "8ch",
    align: "end",
    from: 40,
    sortable: true,
    cell: (agent) => <Money usd={agent.costUsd} />,
  },
  {
    id: "age",
    header: "Age",
    width: "5ch",
    align: "end",
    from: 48,
    sortable: true,
    cell: (agent) => <Age at={agent.startedAt} />,
  },
  {
    id: "last",
    header: "Last",
    width: "5ch",
    align: "end",
    from: 40,
    sortable: true,
    cell: (agent) => <Age at={agent.lastActivity} />,
  },
];

const more: readonly Column<Agent>[] = [
  {
    id: "runtime",
    header: "Runs on",
    width: "minmax(10ch, 1fr)",
    from: 84,
    cell: (agent) => <Middle text={[agent.runtime, agent.model].filter(Boolean).join("/")} />,
  },
  {
    id: "files",
    header: "Files",
    width: "6ch",
    align: "end",
    from: 64,
    cell: ({ queued }) =>
      queued === undefined ? null : <span title={queued.filesModified.join("\n")}>{queued.filesModified.length}</span>,
  },
  {
    id: "verdict",
    header: "Verdict",
    width: "14ch",
    from: 64,
    cell: ({ queued }) =>
      queued === undefined ? null : (
        <span className={css.name} title={`On commit ${shortCommit(queued.headCommit)}, which it queued`}>
          <VerdictMark verdict={queued.verdict} />
        </span>
      ),
  },
  { id: "turns", header: "Turns", width: "6ch", align: "end", from: 64, sortable: true, cell: (agent) => agent.turns },
];

/** What is not known is no 0. */
const Ahead = ({ agent: { branch, ahead = null } }: { agent: Agent }) =>
  branch === null ? null : ahead === null ? (
    <span className="faint" title="None of its turns has ended yet">
      -
    </span>
  ) : (
    <span className="figure" title={`${count(ahead, "commit")} since its base, when its last turn ended`}>
      +{ahead}
    </span>
  );

export const fleetColumns = (isTree: boolean): readonly Column<Agent>[] => [name, ...shared, ...(isTree ? [] : more)];

/** An agent in two lines, for a narrow screen: name and state, then now and cost. */
export const FleetLine = ({ agent }: { agent: Agent }) => (
  <NarrowRow>
    <span className="mono">{agent.name}</span>
    <AgentState agent={agent} />
    <NowLine agent={agent} />
    <Money usd={agent.costUsd} />
  </NarrowRow>
);
