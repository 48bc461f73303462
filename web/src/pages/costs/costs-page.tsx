import { useMemo, useRef, useState } from "react";
import { useOverview } from "../../api/resources.ts";
import type { CostSeries } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { count, money, span } from "../../state/words.ts";
import { Button, Choice, Picker } from "../../ui/controls.tsx";
import { csvOf } from "../../ui/csv.ts";
import { download } from "../../ui/download.ts";
import { PageHead } from "../../ui/page.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Facts } from "../../ui/text.tsx";
import { Budgets } from "./budgets.tsx";
import { CostChart } from "./cost-chart.tsx";
import { CostTable } from "./cost-table.tsx";
import css from "./costs-page.module.css";

const groupings = ["agent", "capability", "model", "task"] as const;
const windows = { "1h": 1, "6h": 6, "24h": 24, "7d": 168 } as const;
const isWindow = (text: string | undefined): text is keyof typeof windows => text !== undefined && text in windows;

export default function CostsPage() {
  const { search, set } = useUrl();
  const { data: overview, ...reading } = useOverview();
  const by = groupings.find((each) => each === search.by) ?? "agent";
  const run = search.run ?? overview?.currentRunId ?? undefined;
  const showsBudgets = search.view === "budgets";
  useCommands("Costs", [
    ...groupings.map((each, at) => ({
      id: `costs.${each}`,
      label: `Costs by ${each}`,
      keys: String(at + 1),
      run: () => set({ by: each === "agent" ? undefined : each, view: undefined }),
    })),
    { id: "costs.budgets", label: "Budgets", keys: "5", run: () => set({ view: "budgets" }) },
  ]);
  return (
    <>
      <PageHead title="Costs">
        <Choice
          label="Costs by"
          value={showsBudgets ? "budgets" : by}
          options={[
            ...groupings.map((value, at) => ({
              value,
              label: value.charAt(0).toUpperCase() + value.slice(1),
              keys: String(at + 1),
            })),
            { value: "budgets" as const, label: "Budgets", keys: "5" },
          ]}
          onChoose={(chosen) =>
            set(
              chosen === "budgets"
                ? { view: "budgets" }
                : { by: chosen === "agent" ? undefined : chosen, view: undefined, raise: undefined },
            )
          }
        />
        {showsBudgets ? null : (
          <Picker
            label="Time"
            value={isWindow(search.from) ? search.from : ""}
            options={[
              { value: "", label: run === undefined ? "last 24 h" : "whole run" },
              { value: "1h", label: "last hour" },
              { value: "6h", label: "last 6 h" },
              { value: "24h", label: "last 24 h" },
              { value: "7d", label: "last 7 days" },
            ]}
            onChoose={(from) => set({ from: from === "" ? undefined : from })}
          />
        )}
      </PageHead>
      {showsBudgets ? (
        <Budgets />
      ) : (
        <Shown what="the runs" query={{ ...reading, data: overview }}>
          {() => <Spending by={by} run={run} window={isWindow(search.from) ? search.from : undefined} />}
        </Shown>
      )}
    </>
  );
}

function Spending({
  by,
  run,
  window,
}: {
  by: (typeof groupings)[number];
  run: string | undefined;
  window: keyof typeof windows | undefined;
}) {
  const given = { by, run, lastMs: window === undefined ? undefined : windows[window] * 3_600_000 };
  const query = useResource({ path: "/api/costs/series", given, refreshedBy: "costs" });
  return (
    <Shown what="the costs" query={query}>
      {(data) =>
        data.rows.length === 0 ? (
          <Empty
            why="Nothing was used in this time. What a turn used is booked when the turn ends."
            command={run === undefined ? "ov costs" : `ov costs --run ${run}`}
          />
        ) : (
          <Picture key={`${by} ${window}`} data={data} />
        )
      }
    </Shown>
  );
}

/** The chart beside the table, with one cursor for both. While the cursor is open, the picture holds still. */
function Picture({ data: newest }: { data: CostSeries }) {
  const [cursor, setCursor] = useState<number>();
  const [chosen, setChosen] = useState<string | null>();
  const shown = useRef(newest);
  if (cursor === undefined) shown.current = newest;
  const data = shown.current;
  const keys = useMemo(() => data.series.map(({ key }) => key), [data]);
  const choose = (step: 1 | -1): void => {
    const at = chosen === undefined ? (step > 0 ? -1 : keys.length) : keys.indexOf(chosen);
    setChosen(keys[Math.max(0, Math.min(keys.length - 1, at + step))]);
  };
  return (
    <>
      <Headline data={data} />
      <div className={css.picture}>
        {data.series.length === 0 ? (
          <Empty why="No runtime reported a cost in this time, so there is no curve. The table shows the tokens." />
        ) : (
          <CostChart data={data} cursor={cursor} chosen={chosen} onCursor={setCursor} onChoose={choose} />
        )}
        <CostTable data={data} cursor={cursor} chosen={chosen} onChoose={setChosen} />
      </div>
    </>
  );
}

function Headline({ data }: { data: CostSeries }) {
  const { totals, rate, limit, coordinationShare: share } = data;
  return (
    <div className={css.headline}>
      <strong>{money(totals.costUsd)}</strong>
      <Facts
        facts={[
          count(totals.turns, "turn"),
          rate === null ? "rate not reported" : `${money(rate.usdPerHour)}/h in the last ${span(rate.overMs)}`,
          limit === null ? "no limit" : limitWords(limit),
          share === null ? null : `coordination ${Math.round(share)} %`,
          totals.unpricedTurns === 0 || totals.costUsd === null
            ? null
            : `${count(totals.unpricedTurns, "turn")} without a reported cost`,
        ]}
      />
      <Button onClick={() => download(`costs-by-${data.by}.csv`, csvOfCosts(data))}>CSV</Button>
    </div>
  );
}

function limitWords(limit: NonNullable<CostSeries["limit"]>) {
  const tone = limit.percent >= 100 ? "budget" : limit.percent >= 80 ? "attn" : "idle";
  const reached = limit.percent >= 100 ? ", reached: no new turn starts" : "";
  return (
    <span key="limit" className={css.word} data-tone={tone}>
      {money(limit.spentUsd)} of {money(limit.limitUsd)} of the {limit.scope}
      {reached}
      {limit.reachedAt === null ? "" : `, reached in about ${span(Date.parse(limit.reachedAt) - Date.now())}`}
    </span>
  );
}

const csvOfCosts = ({ by, rows }: CostSeries): string =>
  csvOf([
    [by, "usd", "share_percent", "turns", "turns_without_cost", "tokens_in", "tokens_out", "landed", "usd_per_landing"],
    ...rows.map((row) => [
      row.key,
      row.costUsd,
      row.share,
      row.turns,
      row.unpricedTurns,
      row.tokens === null ? null : row.tokens.input + row.tokens.cacheRead + row.tokens.cacheWrite,
      row.tokens?.output,
      row.landed,
      row.usdPerLanding,
    ]),
  ]);
