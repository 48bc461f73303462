import { useCallback, useMemo } from "react";
import type { CostSeries } from "../../api/types.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { amount, clockTime, count, money } from "../../state/words.ts";
import { type Column, Grid } from "../../ui/grid.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { Middle } from "../../ui/text.tsx";
import { colourOf } from "./cost-chart.tsx";
import css from "./costs-page.module.css";

type Row = CostSeries["rows"][number];
const idOf = ({ key }: Row): string => key;
const nameOf = ({ key }: Row): string => (key === "" ? "unnamed model" : key);

/** What each agent, capability, model or task used. With an open cursor also what it had used until then. */
export function CostTable({
  data,
  cursor,
  chosen,
  onChoose,
}: {
  data: CostSeries;
  cursor: number | undefined;
  chosen: string | null | undefined;
  onChoose: (key: string | undefined) => void;
}) {
  const go = useGo();
  const { set } = useUrl();
  const columns = useMemo(() => columnsOf(data, cursor, chosen), [data, cursor, chosen]);
  const narrow = useCallback((row: Row) => <Line row={row} data={data} cursor={cursor} />, [data, cursor]);
  const open = ({ key }: Row): void => {
    if (data.by === "agent") go(`/agents/${encodeURIComponent(key)}`, { tab: "cost" });
    else if (data.by === "task") set({ peek: `task:${key}` });
    else if (data.by === "capability") go("/fleet", { cap: key });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering a row only points at its part of the chart
    <div
      className={css.table}
      onMouseOver={(event) => {
        const row = (event.target as HTMLElement).closest("[role=row][data-key], [role=row][aria-label]");
        const name = row?.getAttribute("aria-label");
        onChoose(data.rows.find((each) => nameOf(each) === name)?.key);
      }}
      onMouseLeave={() => onChoose(undefined)}
      onFocus={() => {}}
      onBlur={() => onChoose(undefined)}
    >
      <Grid
        label={`Costs by ${data.by}`}
        rows={data.rows}
        idOf={idOf}
        nameOf={nameOf}
        columns={columns}
        narrow={narrow}
        onOpen={open}
        onFocusRow={(row) => onChoose(row?.key)}
        empty={null}
      />
    </div>
  );
}

const unknown = (
  <span className="faint" title="Its runtime reports no such figure">
    not reported
  </span>
);

/** The place of a row among the series; all others share the last one. Nothing is drawn for what cost nothing. */
function placeIn({ series }: CostSeries, { key, costUsd }: Row): number | undefined {
  if (costUsd === null || costUsd === 0) return undefined;
  const own = series.findIndex((each) => each.key === key);
  const others = series.findIndex((each) => each.key === null);
  return own >= 0 ? own : others >= 0 ? others : undefined;
}

const thenOf = ({ times, to }: CostSeries, cursor: number): string => `until ${clockTime(times[cursor] ?? to)}`;

function untilOf(data: CostSeries, { key, costUsd }: Row, cursor: number): string {
  const found = data.series.find((each) => each.key === key);
  return costUsd === null || found === undefined ? "" : `${money(found.usd[cursor] ?? 0)} ${thenOf(data, cursor)}`;
}

function columnsOf(data: CostSeries, cursor: number | undefined, chosen: string | null | undefined) {
  const columns: Column<Row>[] = [
    {
      id: "name",
      header: data.by.charAt(0).toUpperCase() + data.by.slice(1),
      width: "minmax(14ch, 1fr)",
      cell: (row) => (
        <span className={css.name} data-chosen={row.key === chosen || undefined}>
          <Swatch place={placeIn(data, row)} />
          <Middle text={nameOf(row)} tail={6} />
        </span>
      ),
    },
    {
      id: "cost",
      header: "Cost",
      width: "12ch",
      align: "end",
      cell: ({ costUsd }) => (costUsd === null ? unknown : money(costUsd)),
    },
    {
      id: "share",
      header: "Share",
      width: "6ch",
      align: "end",
      cell: ({ share }) => (share === null ? "" : `${share.toFixed(share < 10 ? 1 : 0)} %`),
    },
    { id: "turns", header: "Turns", width: "6ch", align: "end", from: 30, cell: ({ turns }) => turns },
    {
      id: "tokens",
      header: "Tokens in / out",
      width: "15ch",
      align: "end",
      from: 36,
      cell: ({ tokens }) =>
        tokens === null
          ? unknown
          : `${amount(tokens.input + tokens.cacheRead + tokens.cacheWrite)} / ${amount(tokens.output)}`,
    },
    {
      id: "landed",
      header: "Landed",
      width: "7ch",
      align: "end",
      from: 42,
      cell: ({ landed }) => (landed === null ? "" : landed),
    },
    {
      id: "each",
      header: "$/landing",
      width: "9ch",
      align: "end",
      from: 42,
      cell: ({ usdPerLanding }) => (usdPerLanding === null ? "" : money(usdPerLanding)),
    },
  ];
  if (cursor === undefined)
    return columns.filter(({ id }) => data.by !== "model" || (id !== "landed" && id !== "each"));
  const then: Column<Row> = {
    id: "then",
    header: thenOf(data, cursor),
    width: "13ch",
    align: "end",
    cell: ({ key, costUsd }) => {
      const found = data.series.find((each) => each.key === key);
      return costUsd === null ? unknown : found === undefined ? "" : money(found.usd[cursor] ?? 0);
    },
  };
  return [columns[0], columns[1], then, columns[2], columns[3]].filter((each) => each !== undefined);
}

const Swatch = ({ place }: { place: number | undefined }) => (
  <span
    className={css.swatch}
    aria-hidden
    data-hatched={(place !== undefined && place >= 4) || undefined}
    style={place === undefined ? undefined : { color: colourOf(place) }}
    data-none={place === undefined || undefined}
  />
);

const Line = ({ row, data, cursor }: { row: Row; data: CostSeries; cursor: number | undefined }) => (
  <NarrowRow>
    <span className={css.name}>
      <Swatch place={placeIn(data, row)} />
      <span>{nameOf(row)}</span>
    </span>
    <span className="figure">{money(row.costUsd)}</span>
    <span className="faint">
      {count(row.turns, "turn")},{" "}
      {row.tokens === null ? "tokens not reported" : `${amount(row.tokens.output)} tokens out`}
    </span>
    <span className="faint">
      {cursor !== undefined
        ? untilOf(data, row, cursor)
        : row.landed === null || row.landed === 0
          ? ""
          : `${row.landed} landed`}
    </span>
  </NarrowRow>
);
