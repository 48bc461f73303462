import { lazy, Suspense, useCallback, useMemo, useState } from "react";
import { useAgentActions } from "../../agents/agent-actions.ts";
import { agentLook } from "../../agents/agent-look.ts";
import { useWhyNot } from "../../api/actions.ts";
import { topicOf, useAgents } from "../../api/resources.ts";
import type { Agent } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { TaskPanels } from "../../tasks/task-forms.tsx";
import { openTaskPanel } from "../../tasks/task-panels.ts";
import { Button, Choice, Filter } from "../../ui/controls.tsx";
import { Grid } from "../../ui/grid.tsx";
import { PageHead } from "../../ui/page.tsx";
import { SelectionBar } from "../../ui/selection-bar.tsx";
import { Empty, Loading, Shown } from "../../ui/states.tsx";
import { FleetLine, type FleetSort, fleetColumns, sorts } from "./fleet-columns.tsx";

const FleetGraph = lazy(() => import("./fleet-graph.tsx"));

const views = ["tree", "graph", "table"] as const;
type View = (typeof views)[number];

export default function FleetPage() {
  const { search, set, replace } = useUrl();
  const { agents, ...query } = useAgents();
  const view: View = views.find((each) => each === search.view) ?? "tree";
  const matching = useMemo(
    () => filtered(agents ?? [], search.q ?? "", search.state, search.cap),
    [agents, search.q, search.state, search.cap],
  );
  const showsDone = search.done === "shown" || search.state !== undefined;
  const shown = useMemo(() => (showsDone ? matching : withoutDone(matching)), [matching, showsDone]);
  const done = matching.length - withoutDone(matching).length;
  const isFiltered = (search.q ?? search.state ?? search.cap) !== undefined;
  const whyNot = useWhyNot();
  useCommands("Fleet views", [
    { id: "fleet.new", label: "New agent", run: () => openTaskPanel({ kind: "agent" }), disabled: whyNot },
    ...views.map((each, at) => ({
      id: `fleet.${each}`,
      label: `Fleet as ${each}`,
      keys: String(at + 1),
      run: () => set({ view: each }),
    })),
    {
      id: "fleet.filter",
      label: "Filter agents",
      keys: "/",
      run: () => document.querySelector<HTMLElement>("#fleet-filter")?.focus(),
    },
  ]);
  const empty = isFiltered ? (
    <Empty
      why={`No agents match ${filterText(search)}.`}
      action={<Button onClick={() => set({ q: undefined, state: undefined, cap: undefined })}>Clear filter</Button>}
    />
  ) : (
    <Empty
      why="No agents in this run yet. Give the coordinator an objective, or start one agent."
      command='ov sling "..."'
    />
  );
  return (
    <>
      <PageHead title="Fleet">
        <Filter
          id="fleet-filter"
          label="Filter: text, state:, cap:"
          value={filterText(search)}
          onChange={(text) => replace(parseFilter(text))}
        />
        <Choice
          label="View"
          value={view}
          options={[
            { value: "tree", label: "Tree", keys: "1" },
            { value: "graph", label: "Graph", keys: "2" },
            { value: "table", label: "Table", keys: "3" },
          ]}
          onChoose={(chosen) => set({ view: chosen === "tree" ? undefined : chosen })}
        />
        <span className="faint">{count(matching.filter(({ running }) => running).length, "agent")} live</span>
        {done === 0 || search.state !== undefined ? null : (
          <Button look="quiet" aria-pressed={showsDone} onClick={() => set({ done: showsDone ? undefined : "shown" })}>
            {showsDone ? "Fold" : "Show"} {done} done
          </Button>
        )}
        <Button whyNot={whyNot} onClick={() => openTaskPanel({ kind: "agent" })}>
          New agent
        </Button>
      </PageHead>
      <TaskPanels />
      <Shown what="the fleet" query={{ ...query, data: agents }}>
        {() =>
          view === "graph" ? (
            <Suspense fallback={<Loading what="the graph" />}>
              {shown.length === 0 ? empty : <FleetGraph agents={shown} />}
            </Suspense>
          ) : (
            <FleetList agents={shown} isTree={view === "tree"} empty={empty} />
          )
        }
      </Shown>
    </>
  );
}

/** Finished work recedes: agents that are done are left out, unless an agent below them lives. */
function withoutDone(agents: readonly Agent[]): readonly Agent[] {
  const parents = new Set(agents.filter(({ running }) => running).map(({ parent }) => parent));
  return agents.filter((agent) => agentLook(agent, 0).tone !== "done" || parents.has(agent.name));
}

const nameOf = ({ name }: Agent): string => name;
const parentOf = ({ parent }: Agent): string | null => parent;

function FleetList({ agents, isTree, empty }: { agents: readonly Agent[]; isTree: boolean; empty: React.ReactNode }) {
  const { search, set, replace } = useUrl();
  const go = useGo();
  const actions = useAgentActions();
  const [focused, setFocused] = useState<string>();
  const sort = useMemo(() => sortOf(search.sort), [search.sort]);
  const queued = useQueued(!isTree);
  const rows = useMemo(() => sorted(agents, sort).map((agent) => withQueued(agent, queued)), [agents, sort, queued]);
  const selected = useMemo(() => new Set(search.sel?.split(",") ?? []), [search.sel]);
  const chosen = agents.filter(({ name }) => selected.has(name));
  const subject = chosen.length > 0 ? chosen : agents.filter(({ name }) => name === focused);
  useAgentCommands(subject, actions);
  const columns = useMemo(() => fleetColumns(isTree), [isTree]);
  return (
    <>
      <Grid
        label="Agents"
        rows={rows}
        idOf={nameOf}
        nameOf={nameOf}
        columns={columns}
        parentOf={isTree ? parentOf : undefined}
        toneOf={toneOf}
        onOpen={(agent) => go(`/agents/${agent.name}`)}
        onPeek={(agent) => set({ peek: `agent:${agent.name}` })}
        actionsOf={actions.itemsFor}
        narrow={narrow}
        sort={isTree && search.sort === undefined ? undefined : sort}
        onSort={(id) => replace({ sort: sort.id === id && !sort.descending ? `-${id}` : id })}
        selected={selected}
        onSelect={(ids) => replace({ sel: ids.size === 0 ? undefined : [...ids].join(",") })}
        onFocusRow={useCallback((agent: Agent | undefined) => setFocused(agent?.name), [])}
        empty={empty}
      />
      <SelectionBar count={chosen.length} onClear={() => replace({ sel: undefined })}>
        <Button whyNot={actions.offline} onClick={() => chosen.forEach((agent) => void actions.nudge(agent))}>
          Nudge
        </Button>
        <Button whyNot={actions.offline} onClick={() => chosen.forEach((agent) => void actions.pause(agent))}>
          Pause
        </Button>
        <Button whyNot={actions.offline} onClick={() => actions.stop(chosen)}>
          Stop...
        </Button>
      </SelectionBar>
    </>
  );
}

type Queued = NonNullable<Agent["queued"]>;

/** What the merge queue says of the newest work of each branch. Only the table shows it. */
function useQueued(isWanted: boolean): ReadonlyMap<string, Queued> {
  const given = { limit: "500" };
  const { data } = useResource({
    path: "/api/merge",
    given,
    topic: isWanted ? topicOf("merge", given) : undefined,
    isWanted,
  });
  return useMemo(
    () => new Map(data?.items.toSorted((a, b) => (a.id ?? 0) - (b.id ?? 0)).map((one) => [one.branch, one])),
    [data],
  );
}

function withQueued(agent: Agent, queued: ReadonlyMap<string, Queued>): Agent {
  const found = queued.get(agent.branch ?? "");
  return found === undefined ? agent : { ...agent, queued: found };
}

const narrow = (agent: Agent) => <FleetLine agent={agent} />;
const toneOf = (agent: Agent) => {
  const { tone } = agentLook(agent, Date.now());
  return tone === "idle" || tone === "done" ? undefined : tone;
};

/** Letters that act on the selected agents, or on the row with the focus. */
function useAgentCommands(agents: readonly Agent[], actions: ReturnType<typeof useAgentActions>): void {
  const [one] = agents;
  const names = agents.length === 1 ? (one?.name ?? "") : count(agents.length, "agent");
  const go = useGo();
  const whyNot = one === undefined ? "No agent is chosen" : agents.length === 1 ? actions.ended(one) : actions.offline;
  const each = (run: (agent: Agent) => Promise<boolean>) => () => agents.forEach((agent) => void run(agent));
  const pause = one !== undefined && actions.isPaused(one) ? actions.resume : actions.pause;
  useCommands(
    "Agents",
    one === undefined
      ? []
      : [
          { id: "agent.nudge", label: `Nudge ${names}`, keys: "n", run: each(actions.nudge), disabled: whyNot },
          {
            id: "agent.message",
            label: `Message ${names}`,
            keys: "m",
            run: () => actions.message(one),
            disabled: actions.offline,
          },
          { id: "agent.pause", label: `Pause or resume ${names}`, keys: "Shift+P", run: each(pause), disabled: whyNot },
          { id: "agent.stop", label: `Stop ${names}`, keys: "s", run: () => actions.stop(agents), disabled: whyNot },
          {
            id: "agent.changes",
            label: `Changes of ${one.name}`,
            keys: "d",
            run: () => go(`/agents/${one.name}`, { tab: "changes" }),
          },
        ],
  );
}

function sortOf(text: string | undefined): { readonly id: FleetSort; readonly descending: boolean } {
  const name = text?.replace(/^-/, "");
  const id = (Object.keys(sorts) as FleetSort[]).find((each) => each === name) ?? "attention";
  return { id, descending: text?.startsWith("-") === true };
}

function sorted(agents: readonly Agent[], { id, descending }: ReturnType<typeof sortOf>): readonly Agent[] {
  const compare = sorts[id];
  return agents.toSorted((a, b) => (descending ? compare(b, a) : compare(a, b)) || (a.name < b.name ? -1 : 1));
}

/** `state:stalled cap:builder words` and back. */
function parseFilter(text: string) {
  const found: Record<string, string | undefined> = { state: undefined, cap: undefined };
  const rest = text.replace(/(?:^|\s)(state|cap):(\S+)/g, (_, name: string, value: string) => {
    found[name] = value;
    return "";
  });
  const words = rest.replace(/^\s+/, "");
  return { ...found, q: words === "" ? undefined : words };
}

const filterText = ({ state, cap, q }: { readonly [name: string]: string | undefined }): string =>
  [state === undefined ? "" : `state:${state}`, cap === undefined ? "" : `cap:${cap}`, q ?? ""]
    .filter((part) => part !== "")
    .join(" ");

function filtered(
  agents: readonly Agent[],
  q: string,
  state: string | undefined,
  cap: string | undefined,
): readonly Agent[] {
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return agents.filter((agent) => {
    const text =
      `${agent.name} ${agent.taskId ?? ""} ${agent.branch ?? ""} ${agent.capability} ${agent.status}`.toLowerCase();
    if (state !== undefined && !`${agent.state} ${agent.status} ${agent.condition?.kind ?? ""}`.includes(state))
      return false;
    if (cap !== undefined && agent.capability !== cap) return false;
    return words.every((word) => text.includes(word));
  });
}
