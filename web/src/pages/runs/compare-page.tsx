import { useMemo } from "react";
import type { RunFigures, RunSpans } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useUrl } from "../../state/url.ts";
import { amount, money, span } from "../../state/words.ts";
import { Picker } from "../../ui/controls.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { CompareLane } from "./compare-lane.tsx";
import css from "./runs-page.module.css";

/** Two runs on one scale, and how they differ. */
export default function ComparePage() {
  const { search, set } = useUrl();
  const query = useResource({ path: "/api/runs/figures", given: { limit: 200 }, refreshedBy: "runs" });
  return (
    <Shown what="the runs" query={query}>
      {({ items }) => {
        const options = items.map(({ id, objective }) => ({ value: id, label: objective ?? id }));
        const [a, b] = [search.a, search.b].map((id) => items.find((run) => run.id === id));
        const choose = (label: string, name: "a" | "b", value: string | undefined) => (
          <Picker
            label={label}
            value={value ?? ""}
            options={[{ value: "", label: "Choose a run" }, ...options]}
            onChoose={(id) => set({ [name]: id === "" ? undefined : id })}
          />
        );
        return (
          <>
            <PageHead title="Compare runs">
              {choose("First run", "a", a?.id)}
              <span>with</span>
              {choose("Second run", "b", b?.id)}
            </PageHead>
            {a === undefined || b === undefined ? (
              <Empty
                why={
                  items.length < 2
                    ? "There are fewer than two runs, so there is nothing to compare yet."
                    : "Choose two runs. Both are drawn on one scale, and a table shows how they differ."
                }
              />
            ) : (
              <Compared a={a} b={b} />
            )}
          </>
        );
      }}
    </Shown>
  );
}

function Compared({ a, b }: { a: RunFigures; b: RunFigures }) {
  const longest = Math.max(a.durationMs, b.durationMs, 1);
  return (
    <div className={css.compared}>
      <Lane run={a} longest={longest} />
      <Lane run={b} longest={longest} />
      <table className={css.differences}>
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col">{a.objective ?? a.id}</th>
            <th scope="col">{b.objective ?? b.id}</th>
            <th scope="col">Difference</th>
          </tr>
        </thead>
        <tbody>
          {figures.map(({ name, of, shown }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{shownOr(of(a), shown)}</td>
              <td>{shownOr(of(b), shown)}</td>
              <td>{difference(of(a), of(b), shown)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Lane({ run, longest }: { run: RunFigures; longest: number }) {
  const query = useResource({ path: "/api/runs/:id/spans", given: { id: run.id } });
  const data: RunSpans | undefined = useMemo(() => query.data, [query.data]);
  return (
    <Shown what={`the run ${run.id}`} query={{ ...query, data }}>
      {(spans) => <CompareLane run={run} data={spans} longest={longest} />}
    </Shown>
  );
}

interface Figure {
  readonly name: string;
  readonly of: (run: RunFigures) => number | null;
  readonly shown: (value: number) => string;
}

const plain = (value: number): string => String(value);
const figures: readonly Figure[] = [
  { name: "Took", of: ({ durationMs }) => durationMs, shown: span },
  { name: "Agents", of: ({ agents }) => agents, shown: plain },
  { name: "Turns", of: ({ turns }) => turns, shown: plain },
  { name: "Time in turns", of: ({ turnMs }) => turnMs, shown: span },
  { name: "Landed", of: ({ landed }) => landed, shown: plain },
  { name: "Reverted", of: ({ reverted }) => reverted, shown: plain },
  { name: "Could not land", of: ({ failed }) => failed, shown: plain },
  { name: "Cost", of: ({ costUsd }) => costUsd, shown: money },
  {
    name: "Cost of a landing",
    of: ({ costUsd, landed }) => (costUsd === null || landed === 0 ? null : costUsd / landed),
    shown: money,
  },
  {
    name: "Tokens in",
    of: ({ tokens }) => (tokens === null ? null : tokens.input + tokens.cacheRead + tokens.cacheWrite),
    shown: amount,
  },
  { name: "Tokens out", of: ({ tokens }) => tokens?.output ?? null, shown: amount },
  { name: "Coordination", of: ({ coordinationShare: share }) => share, shown: (value) => `${Math.round(value)} %` },
];

const shownOr = (value: number | null, shown: Figure["shown"]): string =>
  value === null ? "not reported" : shown(value);

function difference(a: number | null, b: number | null, shown: Figure["shown"]): string {
  if (a === null || b === null) return "";
  if (a === b) return "same";
  const size = shown(Math.abs(b - a));
  const part = a === 0 ? "" : ` (${b > a ? "+" : "-"}${Math.round((Math.abs(b - a) / a) * 100)} %)`;
  return `${b > a ? "+" : "-"}${size}${part}`;
}
