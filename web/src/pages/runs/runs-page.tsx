import { useMemo } from "react";
import type { RunFigures } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { count, money, span } from "../../state/words.ts";
import { Button, Filter } from "../../ui/controls.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { type Look, LookMark } from "../../ui/look.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { PageHead } from "../../ui/page.tsx";
import { SelectionBar } from "../../ui/selection-bar.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age } from "../../ui/text.tsx";

const idOf = ({ id }: RunFigures): string => id;
const nameOf = ({ objective, id }: RunFigures): string => objective ?? id;

/** All runs in figures, newest first. Two that are chosen can be compared. */
export default function RunsPage() {
  const { search, replace } = useUrl();
  const go = useGo();
  const query = useResource({ path: "/api/runs/figures", given: { limit: 200 }, refreshedBy: "runs" });
  const q = (search.q ?? "").toLowerCase();
  const rows = useMemo(
    () =>
      (query.data?.items ?? []).filter((run) =>
        `${run.id} ${run.objective ?? ""} ${run.status}`.toLowerCase().includes(q),
      ),
    [query.data, q],
  );
  const selected = useMemo(() => new Set(search.sel?.split(",") ?? []), [search.sel]);
  const [a, b] = rows.filter(({ id }) => selected.has(id));
  const compare = (): void => go("/runs/compare", { a: b?.id, b: a?.id });
  useCommands("Runs", [
    {
      id: "runs.filter",
      label: "Filter runs",
      keys: "/",
      run: () => document.querySelector<HTMLElement>("#runs-filter")?.focus(),
    },
    {
      id: "runs.compare",
      label: "Compare the two chosen runs",
      keys: "c",
      run: compare,
      disabled: selected.size === 2 ? undefined : "Choose two runs with Space",
    },
  ]);
  return (
    <>
      <PageHead title="Runs">
        <Filter
          id="runs-filter"
          label="Filter runs"
          value={search.q ?? ""}
          onChange={(text) => replace({ q: text === "" ? undefined : text })}
        />
      </PageHead>
      <Shown what="the runs" query={query}>
        {() => (
          <>
            <Grid
              label="Runs"
              rows={rows}
              idOf={idOf}
              nameOf={nameOf}
              columns={columns}
              narrow={(run) => <Line run={run} />}
              toneOf={({ status }) => (status === "active" ? "live" : status === "failed" ? "bad" : undefined)}
              onOpen={({ id }) => go(`/runs/${encodeURIComponent(id)}`)}
              selected={selected}
              onSelect={(ids) => replace({ sel: ids.size === 0 ? undefined : [...ids].join(",") })}
              empty={
                q === "" ? (
                  <Empty why="No run yet. A run begins with an objective." command='ov go "..."' />
                ) : (
                  <Empty
                    why={`No runs match ${search.q}.`}
                    action={<Button onClick={() => replace({ q: undefined })}>Clear filter</Button>}
                  />
                )
              }
            />
            <SelectionBar count={selected.size} onClear={() => replace({ sel: undefined })}>
              <Button
                look="primary"
                keys="c"
                whyNot={selected.size === 2 ? undefined : "Choose two runs to compare"}
                onClick={compare}
              >
                Compare
              </Button>
            </SelectionBar>
          </>
        )}
      </Shown>
    </>
  );
}

const looks: Readonly<Record<string, Look>> = {
  active: { glyph: "working", tone: "live", word: "Active" },
  completed: { glyph: "completed", tone: "done", word: "Completed" },
  failed: { glyph: "zombie", tone: "bad", word: "Failed" },
};

export const RunStatus = ({ status }: { status: string }) => (
  <LookMark look={looks[status] ?? { glyph: "between_turns", tone: "idle", word: status }} />
);

const columns: readonly Column<RunFigures>[] = [
  {
    id: "objective",
    header: "Objective",
    width: "minmax(20ch, 3fr)",
    cell: (run) => (
      <span className="cut" title={`${nameOf(run)} (${run.id})`}>
        {nameOf(run)}
      </span>
    ),
  },
  { id: "status", header: "Status", width: "13ch", cell: ({ status }) => <RunStatus status={status} /> },
  {
    id: "agents",
    header: "Agents",
    width: "12ch",
    align: "end",
    cell: ({ agents, liveAgents }) => (liveAgents === 0 ? agents : `${liveAgents} of ${agents} live`),
  },
  { id: "landed", header: "Landed", width: "7ch", align: "end", cell: ({ landed }) => landed },
  { id: "reverted", header: "Reverted", width: "8ch", align: "end", from: 56, cell: ({ reverted }) => reverted },
  {
    id: "cost",
    header: "Cost",
    width: "12ch",
    align: "end",
    cell: ({ costUsd, turns }) => (turns === 0 ? "" : money(costUsd)),
  },
  { id: "duration", header: "Took", width: "12ch", align: "end", cell: ({ durationMs }) => span(durationMs) },
  {
    id: "coordination",
    header: "Coordination",
    width: "11ch",
    align: "end",
    from: 70,
    cell: ({ coordinationShare: share }) => (share === null ? "" : `${Math.round(share)} %`),
  },
  { id: "age", header: "Began", width: "7ch", align: "end", from: 60, cell: ({ startedAt }) => <Age at={startedAt} /> },
];

const Line = ({ run }: { run: RunFigures }) => (
  <NarrowRow>
    <span>{nameOf(run)}</span>
    <RunStatus status={run.status} />
    <span className="faint">
      {count(run.agents, "agent")}, {run.landed} landed, {span(run.durationMs)}
    </span>
    <span className="faint">{run.turns === 0 ? "" : money(run.costUsd)}</span>
  </NarrowRow>
);
