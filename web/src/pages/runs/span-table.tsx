import { useMemo } from "react";
import type { RunSpans } from "../../api/types.ts";
import { useGo } from "../../state/url.ts";
import { clockTime, count, exactTime, money, span } from "../../state/words.ts";
import { type Column, Grid } from "../../ui/grid.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { Empty } from "../../ui/states.tsx";
import { Middle } from "../../ui/text.tsx";
import { type GanttRow, spanWords } from "./gantt-scale.ts";

interface Line {
  readonly id: string;
  readonly who: string;
  readonly what: string;
  readonly words: string;
  readonly from: number;
  /** Null while it goes on. */
  readonly ms: number | null;
  readonly costUsd: number | null;
  readonly isTurn: boolean;
  readonly isBad: boolean;
  readonly opens: string;
}

/** All that the drawing shows, as a table, newest first. */
export function SpanTable({
  data,
  rows,
  hidden,
}: {
  data: RunSpans;
  rows: readonly GanttRow[];
  hidden: ReadonlySet<string>;
}) {
  const go = useGo();
  const lines = useMemo(
    () =>
      [
        ...(hidden.has("agents") ? [] : agentLines(rows)),
        ...(hidden.has("merges") ? [] : mergeLines(data)),
        ...(hidden.has("gates") ? [] : gateLines(data)),
      ].toSorted((a, b) => b.from - a.from),
    [data, rows, hidden],
  );
  return (
    <Grid
      label="Parts of the run"
      rows={lines}
      idOf={({ id }) => id}
      nameOf={({ who, what, from }) => `${who} ${what} ${clockTime(from)}`}
      columns={columns}
      narrow={(line) => <NarrowLine line={line} />}
      toneOf={({ isBad }) => (isBad ? "bad" : undefined)}
      onOpen={({ opens }) => go(opens)}
      empty={<Empty why="All lanes are hidden." />}
    />
  );
}

const agentLines = (rows: readonly GanttRow[]): readonly Line[] =>
  rows.flatMap(({ name, spans }) =>
    spans.map((each) => ({
      id: `${name} ${each.kind} ${each.from}`,
      who: name,
      what: spanWords[each.kind],
      words: each.words,
      from: each.from,
      ms: each.isOpen ? null : each.to - each.from,
      costUsd: each.costUsd,
      isTurn: each.kind === "turn",
      isBad: each.failed,
      opens: `/agents/${encodeURIComponent(name)}`,
    })),
  );

const mergeLines = ({ merges, marks }: RunSpans): readonly Line[] => [
  ...merges.map(({ id, from, to, outcome, entries }) => ({
    id,
    who: "merges",
    what: entries.length > 1 ? `train of ${entries.length}` : `merge ${entries[0]?.id ?? ""}`,
    words: `${outcome ?? "goes on"}: ${entries.map(({ branch }) => branch).join(", ")}`,
    from: Date.parse(from),
    ms: to === null ? null : Date.parse(to) - Date.parse(from),
    costUsd: null,
    isTurn: false,
    isBad: outcome === "failed",
    opens: `/merge/${entries[0]?.id ?? ""}`,
  })),
  ...marks.map(({ at, kind, queueId, branch }) => ({
    id: `${kind} ${queueId} ${at}`,
    who: "merges",
    what: `merge ${queueId} ${kind}`,
    words: branch,
    from: Date.parse(at),
    ms: 0,
    costUsd: null,
    isTurn: false,
    isBad: kind === "failed",
    opens: `/merge/${queueId}`,
  })),
];

const gateLines = ({ gates }: RunSpans): readonly Line[] =>
  gates.map(({ id, gate, status, flaky, from, to }) => ({
    id,
    who: "gates",
    what: gate,
    words: `${status.replaceAll("_", " ")}${flaky ? ", flaky" : ""}`,
    from: Date.parse(from),
    ms: Date.parse(to) - Date.parse(from),
    costUsd: null,
    isTurn: false,
    isBad: status !== "passed",
    opens: "/merge",
  }));

const took = ({ ms }: Line): string => (ms === null ? "goes on" : ms === 0 ? "" : ms < 1000 ? "under 1 s" : span(ms));

const columns: readonly Column<Line>[] = [
  {
    id: "at",
    header: "From",
    width: "9ch",
    cell: ({ from }) => <time title={exactTime(from)}>{clockTime(from)}</time>,
  },
  { id: "who", header: "Agent or lane", width: "minmax(14ch, 1fr)", cell: ({ who }) => <Middle text={who} tail={6} /> },
  { id: "what", header: "What", width: "18ch", cell: ({ what }) => what },
  { id: "took", header: "Took", width: "11ch", align: "end", cell: took },
  {
    id: "cost",
    header: "Cost",
    width: "12ch",
    align: "end",
    from: 50,
    cell: ({ isTurn, costUsd }) => (isTurn ? money(costUsd) : ""),
  },
  {
    id: "words",
    header: "Why",
    width: "minmax(20ch, 2fr)",
    from: 44,
    cell: ({ words }) => (
      <span className="cut" title={words}>
        {words}
      </span>
    ),
  },
];

const NarrowLine = ({ line }: { line: Line }) => (
  <NarrowRow>
    <span>
      <code>{line.who}</code> {line.what}
    </span>
    <time>{clockTime(line.from)}</time>
    <span className="faint">{line.words}</span>
    <span className="faint">{took(line)}</span>
  </NarrowRow>
);

/** For the short text under the drawing. */
export const entriesWords = (entries: readonly { readonly branch: string }[]): string =>
  entries.length === 1 ? (entries[0]?.branch ?? "") : count(entries.length, "branch", "branches");
