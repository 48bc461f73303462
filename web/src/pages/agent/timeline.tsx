import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { read } from "../../api/client.ts";
import type { AgentEvent } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { toast } from "../../state/toasts.ts";
import { useUrl } from "../../state/url.ts";
import { exactTime, span } from "../../state/words.ts";
import { Button, Choice, Filter } from "../../ui/controls.tsx";
import { Glyph } from "../../ui/glyph.tsx";
import { withTurns } from "../../ui/safe-text.ts";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age } from "../../ui/text.tsx";
import css from "./timeline.module.css";
import {
  type Call,
  exploredWords,
  kindOf,
  type TimelineKind,
  type TimelineRow,
  timelineKinds,
  timelineRows,
} from "./timeline-rows.ts";

const labels: Readonly<Record<TimelineKind, string>> = {
  text: "Text",
  tools: "Tools",
  errors: "Errors",
  mail: "Mail",
  state: "State",
};

/** From when to when an earlier generation lived, in milliseconds since 1970. */
export type Period = { readonly since: number; readonly until: number };

/** What an agent said and did, newest first, and what comes. */
export function Timeline({
  name,
  worktree,
  during,
}: {
  name: string;
  worktree: string | null;
  during: Period | undefined;
}) {
  const path = "/api/agents/:agents/events" as const;
  // A generation that is over gets no more events.
  const given = { agents: name, ...during };
  const query = useResource({ path, given, topic: during === undefined ? `agent:${name}` : undefined });
  const [older, setOlder] = useState<{ readonly events: readonly AgentEvent[]; readonly next: string | undefined }>();
  const next = older === undefined ? query.data?.next : older.next;
  const readOlder = async (): Promise<void> => {
    if (next === undefined) return;
    try {
      const page = await read(path, { ...given, cursor: next });
      setOlder((before) => ({ events: [...(before?.events ?? []), ...page.items], next: page.next }));
    } catch (error) {
      toast(`Could not read older events of ${name}: ${String(error)}.`, { failed: true });
    }
  };
  const all = useMemo(
    () => timelineRows([...(query.data?.items ?? []), ...(older?.events ?? [])], worktree),
    [query.data, older, worktree],
  );
  return (
    <Shown what={`the timeline of ${name}`} query={query}>
      {() => <Rows rows={all} onOlder={next === undefined ? undefined : () => void readOlder()} />}
    </Shown>
  );
}

function Rows({ rows, onOlder }: { rows: readonly TimelineRow[]; onOlder: (() => void) | undefined }) {
  const { search, replace } = useUrl();
  const kind = timelineKinds.find((each) => each === search.types);
  const words = (search.q ?? "").toLowerCase();
  const counts = useMemo(() => countsOf(rows), [rows]);
  const shown = rows.filter(
    (row) =>
      (kind === undefined || row.kind === "turn" || kindOf(row) === kind) &&
      (words === "" || row.kind === "turn" || textOf(row).toLowerCase().includes(words)),
  );
  const scroller = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 28,
    getItemKey: (at) => shown[at]?.id ?? at,
    overscan: 20,
  });
  const jump = (wanted: (row: TimelineRow) => boolean): void => {
    const from = virtual.range?.startIndex ?? 0;
    const at = shown.findIndex((row, index) => index > from && wanted(row));
    if (at >= 0) virtual.scrollToIndex(at, { align: "start" });
  };
  useCommands("Timeline", [
    { id: "timeline.error", label: "Next error", keys: "e", run: () => jump((row) => kindOf(row) === "errors") },
    { id: "timeline.turn", label: "Next turn", keys: "t", run: () => jump((row) => row.kind === "turn") },
  ]);
  const turn = (id: string): void => {
    const changed = new Set(opened);
    if (!changed.delete(id)) changed.add(id);
    setOpened(changed);
  };
  return (
    <>
      <div className={css.bar}>
        <Choice
          label="Show"
          value={kind ?? "all"}
          options={[
            { value: "all", label: `${onOlder === undefined ? "All" : "Newest"} ${rows.length}` },
            ...timelineKinds.map((each) => ({ value: each, label: `${labels[each]} ${counts[each]}` })),
          ]}
          onChoose={(value) => replace({ types: value === "all" ? undefined : value })}
        />
        <Filter label="Find in the timeline" value={search.q ?? ""} onChange={(q) => replace({ q: q || undefined })} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard */}
      <div className={css.scroller} ref={scroller} tabIndex={0} role="log" aria-label="Timeline, newest first">
        {shown.length === 0 ? <Empty why={emptyWords(rows.length, onOlder !== undefined)} /> : null}
        <div className={css.rows} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = shown[index];
            return row === undefined ? null : (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={css.place}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row row={row} isOpen={opened.has(row.id)} onTurn={() => turn(row.id)} />
              </div>
            );
          })}
        </div>
        {onOlder === undefined ? null : (
          <div className={css.older}>
            <Button onClick={onOlder}>Read older events</Button>
          </div>
        )}
      </div>
    </>
  );
}

/** Only the newest events are read; what is not among them may still have happened. */
const emptyWords = (read: number, hasOlder: boolean): string =>
  hasOlder ? `None of the newest ${read} rows is of this kind.` : "Nothing of this kind has happened yet.";

function countsOf(rows: readonly TimelineRow[]): Readonly<Record<TimelineKind, number>> {
  const counts = { text: 0, tools: 0, errors: 0, mail: 0, state: 0 };
  for (const row of rows) {
    const kind = kindOf(row);
    if (kind !== undefined) counts[kind]++;
  }
  return counts;
}

function textOf(row: TimelineRow): string {
  if (row.kind === "tool") return `${row.call.tool} ${row.call.summary} ${row.call.said ?? ""}`;
  if (row.kind === "explored") return row.calls.map(({ tool, summary }) => `${tool} ${summary}`).join(" ");
  if ("text" in row) return row.text;
  return row.kind === "turn" ? row.words : row.event.text;
}

const Time = ({ at }: { at: string }) => (
  <time className={css.time} dateTime={at} title={exactTime(at)}>
    {new Date(at).toLocaleTimeString("en-GB")}
  </time>
);

function Row({ row, isOpen, onTurn }: { row: TimelineRow; isOpen: boolean; onTurn: () => void }) {
  if (row.kind === "turn")
    return (
      <div className={css.turn}>
        <Time at={row.at} />
        <span>{row.words}</span>
      </div>
    );
  if (row.kind === "tool") return <ToolRow call={row.call} isOpen={isOpen} onTurn={onTurn} />;
  if (row.kind === "explored")
    return (
      <>
        <button type="button" className={css.row} aria-expanded={isOpen} onClick={onTurn}>
          <Time at={row.at} />
          <span className={css.what}>explored</span>
          <span className={css.faint}>{exploredWords(row.calls)}</span>
          <span className={css.end}>
            {seconds(row.calls.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0))}
          </span>
        </button>
        {isOpen ? row.calls.map((call) => <ToolRow key={call.id} call={call} isOpen={false} isInner />) : null}
      </>
    );
  if ("text" in row) {
    const isLong = row.text.length > 400;
    return (
      <div className={css.row}>
        <Time at={row.at} />
        <span className={css.what}>{row.kind}</span>
        <span className={row.kind === "thinking" ? css.thought : css.said} dir="auto">
          {withTurns(isLong && !isOpen ? `${row.text.slice(0, 400)}…` : row.text)}
          {isLong ? (
            <button type="button" className={css.more} onClick={onTurn}>
              {isOpen ? "Show less" : "Show all"}
            </button>
          ) : null}
        </span>
      </div>
    );
  }
  return (
    <div className={css.row} data-tone={row.kind === "error" ? "bad" : undefined}>
      <Time at={row.at} />
      <span className={css.what}>
        {row.kind === "error" ? <Glyph name="failed" tone="bad" word="Error" /> : null}{" "}
        {row.event.type.replaceAll("_", " ")}
      </span>
      <span className={css.said} dir="auto">
        {withTurns(row.event.text)}
      </span>
    </div>
  );
}

function ToolRow({
  call,
  isOpen,
  onTurn,
  isInner = false,
}: {
  call: Call;
  isOpen: boolean;
  onTurn?: () => void;
  isInner?: boolean;
}) {
  return (
    <>
      <div
        className={isInner ? `${css.row} ${css.inner}` : css.row}
        data-tone={call.failed ? "bad" : call.isRunning ? "live" : undefined}
      >
        <Time at={call.at} />
        <span className={css.what}>
          {call.failed ? <Glyph name="failed" tone="bad" word="Failed" /> : null}
          {call.isRunning ? <Glyph name="in_turn" tone="live" word="Runs" /> : null} {call.tool}
        </span>
        <code className={css.summary} title={withTurns(call.summary)} dir="auto">
          {withTurns(call.summary)}
        </code>
        <span className={css.end}>
          {call.isRunning ? (
            <Age at={call.at} form="stopwatch" />
          ) : call.isCut ? (
            "cut off"
          ) : call.durationMs === null ? null : (
            seconds(call.durationMs)
          )}
          {call.said === null || onTurn === undefined ? null : (
            <button type="button" className={css.more} aria-expanded={isOpen} onClick={onTurn}>
              {isOpen ? "Hide answer" : "Show answer"}
            </button>
          )}
        </span>
      </div>
      {isOpen && call.said !== null ? (
        <pre className={css.answer} dir="auto">
          {withTurns(call.said)}
        </pre>
      ) : null}
    </>
  );
}

const seconds = (ms: number): string => (ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms));
