import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import type { RunSpans } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useNow } from "../../state/clock.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { count, money, span } from "../../state/words.ts";
import { Button, Choice, Picker } from "../../ui/controls.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Facts } from "../../ui/text.tsx";
import { Gantt } from "./gantt.tsx";
import { ganttRows, type Period } from "./gantt-scale.ts";
import { Replay } from "./replay.tsx";
import css from "./runs-page.module.css";
import { RunStatus } from "./runs-page.tsx";
import { SpanTable } from "./span-table.tsx";

const lanes = ["agents", "merges", "gates"] as const;

/** One run in the course of time. */
export default function RunPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const query = useResource({ path: "/api/runs/:id/spans", given: { id }, refreshedBy: `run:${id}` });
  return (
    <Shown what={`the run ${id}`} query={query}>
      {(data) => <InTime data={data} />}
    </Shown>
  );
}

function InTime({ data }: { data: RunSpans }) {
  const { search, set, replace } = useUrl();
  const go = useGo();
  const { id, objective, status } = data.run;
  const { data: figures } = useResource({ path: "/api/runs/figures", given: { limit: 200 }, refreshedBy: "runs" });
  const own = figures?.items.find((run) => run.id === id);
  // The live edge grows while the run is active.
  const now = useNow(status === "active" ? 5000 : 3_600_000_000);
  const whole: Period = useMemo(() => {
    const to = status === "active" ? Math.max(now, Date.parse(data.to)) : Date.parse(data.to);
    return { from: Date.parse(data.from), to };
  }, [data, now, status]);
  const rows = useMemo(() => ganttRows(data, whole.to), [data, whole.to]);
  const range = useMemo(() => rangeOf({ from: search.from, to: search.to }, whole), [search.from, search.to, whole]);
  const hidden = new Set(search.hide?.split(",") ?? []);
  const showsTable = search.view === "table";
  const show = (next: Period | undefined): void =>
    replace(
      next === undefined
        ? { from: undefined, to: undefined }
        : { from: String(Math.round(next.from)), to: String(Math.round(next.to)) },
    );
  useCommands("Run", [
    { id: "run.fit", label: "Show the whole run", keys: "f", run: () => show(undefined) },
    { id: "run.gantt", label: "Run as drawing", keys: "1", run: () => set({ view: undefined }) },
    { id: "run.table", label: "Run as table", keys: "2", run: () => set({ view: "table" }) },
    {
      id: "run.replay",
      label: "Replay from the beginning",
      run: () => set({ t: String(whole.from) }),
    },
  ]);
  return (
    <>
      <PageHead title={titleOf(objective ?? id)}>
        <RunStatus status={status} />
        <Facts
          facts={[
            span(whole.to - whole.from),
            own === undefined ? null : own.liveAgents > 0 ? `${own.liveAgents} live` : count(own.agents, "agent"),
            own === undefined || own.turns === 0 ? null : money(own.costUsd),
            own === undefined ? null : `${own.landed} landed`,
            own === undefined || own.reverted === 0 ? null : `${own.reverted} reverted`,
          ]}
        />
        <Choice
          label="View"
          value={showsTable ? "table" : "gantt"}
          options={[
            { value: "gantt", label: "Drawing", keys: "1" },
            { value: "table", label: "Table", keys: "2" },
          ]}
          onChoose={(view) => set({ view: view === "table" ? "table" : undefined })}
        />
        <fieldset className={css.lanes}>
          <legend className="visually-hidden">Lanes</legend>
          {lanes.map((lane) => (
            <label key={lane}>
              <input
                type="checkbox"
                checked={!hidden.has(lane)}
                onChange={() => {
                  if (!hidden.delete(lane)) hidden.add(lane);
                  replace({ hide: hidden.size === 0 ? undefined : [...hidden].join(",") });
                }}
              />
              {lane}
            </label>
          ))}
          <label>
            <input
              type="checkbox"
              checked={search.path === "shown"}
              onChange={(event) => replace({ path: event.target.checked ? "shown" : undefined })}
            />
            critical path
          </label>
        </fieldset>
        <Picker
          label="Compare with another run"
          value=""
          options={[
            { value: "", label: "Compare with..." },
            ...(figures?.items ?? [])
              .filter((run) => run.id !== id)
              .map((run) => ({ value: run.id, label: run.objective ?? run.id })),
          ]}
          onChoose={(other) => other !== "" && go("/runs/compare", { a: other, b: id })}
        />
      </PageHead>
      {search.path === "shown" ? <PathWords path={data.path} /> : null}
      {rows.length === 0 ? (
        <Empty why="No agent of this run has begun yet." command={`ov run show ${id}`} />
      ) : (
        <>
          {showsTable ? (
            <SpanTable data={data} rows={rows} hidden={hidden} />
          ) : (
            <>
              <p className={css.wider}>
                The drawing wants a wider screen.{" "}
                <Button look="quiet" onClick={() => set({ view: "table" })}>
                  Show the table
                </Button>
              </p>
              <Gantt
                data={data}
                rows={rows}
                whole={whole}
                range={range}
                hidden={hidden}
                onRange={show}
                at={momentOf(search.t)}
                showsPath={search.path === "shown"}
              />
            </>
          )}
          <Replay run={id} whole={whole} at={momentOf(search.t)} />
        </>
      )}
    </>
  );
}

/** Whose work the end depended on, and for how long: the drawing in words. */
function PathWords({ path }: { path: RunSpans["path"] }) {
  const times = new Map<string, number>();
  for (const { agent, from, to } of path) times.set(agent, (times.get(agent) ?? 0) + Date.parse(to) - Date.parse(from));
  const longest = [...times].toSorted(([, a], [, b]) => b - a);
  return (
    <p className={css.path}>
      {longest.length === 0
        ? "No agent has worked yet, so there is no critical path."
        : `The end depended on: ${longest.map(([agent, ms]) => `${agent} ${ms < 1000 ? "under 1 s" : span(ms)}`).join(", ")}.`}
    </p>
  );
}

/** An objective may be a page long; the list of runs shows all of it. */
const titleOf = (words: string): string => (words.length > 60 ? `${words.slice(0, 59)}…` : words);

const momentOf = (text: string | undefined): number | undefined =>
  /^\d+$/.test(text ?? "") ? Number(text) : undefined;

/** The part that is shown: as the address says, else all of it. */
function rangeOf(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  whole: Period,
): Period {
  const wanted = { from: momentOf(from) ?? whole.from, to: momentOf(to) ?? whole.to };
  return wanted.to - wanted.from < 1000 ? whole : wanted;
}
