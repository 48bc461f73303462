import { type ReactNode, useMemo, useState } from "react";
import { addressOf, read } from "../../api/client.ts";
import type { AuditEntry } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { exactTime } from "../../state/words.ts";
import { Button, Filter, Picker } from "../../ui/controls.tsx";
import { csvOf } from "../../ui/csv.ts";
import { download } from "../../ui/download.ts";
import { type Column, Grid } from "../../ui/grid.tsx";
import { LookMark } from "../../ui/look.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age } from "../../ui/text.tsx";
import css from "./health-page.module.css";

const pageSize = 200;
const idOf = ({ id }: AuditEntry): string => String(id);

/** Who changed what, newest first. */
export function Audit({ views }: { views: ReactNode }) {
  const { search, replace } = useUrl();
  const given = {
    limit: pageSize,
    ...(search.q === undefined ? {} : { text: search.q }),
    ...(search.result === "refused" || search.result === "done"
      ? { refused: String(search.result === "refused") }
      : {}),
  };
  const query = useResource({ path: "/api/audit", given, topic: addressOf("audit", given) });
  const older = useOlder(JSON.stringify(given), query.data?.next, given);
  const rows = useMemo(
    () =>
      [
        ...new Map([...older.entries, ...(query.data?.items ?? [])].map((entry) => [entry.id, entry])).values(),
      ].toSorted((a, b) => b.id - a.id),
    [query.data, older.entries],
  );
  const isFiltered = search.q !== undefined || search.result !== undefined;
  useCommands("Audit", [
    {
      id: "audit.filter",
      label: "Filter the audit",
      keys: "/",
      run: () => document.querySelector<HTMLElement>("#audit-filter")?.focus(),
    },
  ]);
  return (
    <>
      <PageHead title="Health">
        {views}
        <Filter
          id="audit-filter"
          label="Filter: actor, action, target"
          value={search.q ?? ""}
          onChange={(text) => replace({ q: text === "" ? undefined : text })}
        />
        <Picker
          label="Result"
          value={search.result ?? ""}
          options={[
            { value: "", label: "done and refused" },
            { value: "done", label: "done" },
            { value: "refused", label: "refused" },
          ]}
          onChoose={(result) => replace({ result: result === "" ? undefined : result })}
        />
        <Button
          whyNot={rows.length === 0 ? "There is nothing to export" : undefined}
          onClick={() => download("audit.csv", csvOfAudit(rows))}
        >
          CSV
        </Button>
      </PageHead>
      <Shown what="the audit" query={query}>
        {() => (
          <>
            <Grid
              label="Audit"
              rows={rows}
              idOf={idOf}
              nameOf={({ caller, action }) => `${caller} ${action}`}
              columns={columns}
              narrow={(entry) => <Line entry={entry} />}
              toneOf={({ refused }) => (refused ? "attn" : undefined)}
              onOpen={() => {}}
              empty={
                isFiltered ? (
                  <Empty
                    why="No entry fits this filter."
                    action={<Button onClick={() => replace({ q: undefined, result: undefined })}>Clear filter</Button>}
                  />
                ) : (
                  <Empty why="Nothing is on record yet. Changes over the web and refused requests are written down here." />
                )
              }
            />
            {older.more === undefined ? null : (
              <div className={css.older}>
                <Button onClick={older.more}>Show older entries</Button>
              </div>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

/** Pages that a person asked for, behind the newest one. They never change. */
function useOlder(filter: string, first: string | undefined, given: Readonly<Record<string, string | number>>) {
  const [pages, setPages] = useState<{
    readonly filter: string;
    readonly entries: readonly AuditEntry[];
    readonly next: string | undefined;
  }>();
  const own = pages?.filter === filter ? pages : undefined;
  const cursor = own === undefined ? first : own.next;
  const more = async (): Promise<void> => {
    const page = await read("/api/audit", { ...given, cursor });
    setPages({ filter, entries: [...(own?.entries ?? []), ...page.items], next: page.next });
  };
  return { entries: own?.entries ?? [], more: cursor === undefined ? undefined : () => void more() };
}

const detailOf = ({ detail }: AuditEntry): string => {
  try {
    const { target, over, ...rest } = JSON.parse(detail) as Record<string, unknown>;
    return [
      target,
      over === undefined ? "" : `over the ${String(over)}`,
      ...Object.entries(rest).map(([name, value]) => `${name} ${String(value)}`),
    ]
      .filter((part) => part !== undefined && part !== "")
      .join(", ");
  } catch {
    // Refusals are written down as a sentence.
    return detail;
  }
};

const Result = ({ refused }: { refused: boolean }) => (
  <LookMark
    look={
      refused ? { glyph: "blocked", tone: "attn", word: "Refused" } : { glyph: "completed", tone: "done", word: "Done" }
    }
  />
);

const columns: readonly Column<AuditEntry>[] = [
  { id: "at", header: "Time", width: "23ch", cell: ({ at }) => <time dateTime={at}>{exactTime(at)}</time> },
  { id: "caller", header: "Actor", width: "minmax(10ch, 1fr)", cell: ({ caller }) => <code>{caller}</code> },
  {
    id: "action",
    header: "Action",
    width: "minmax(20ch, 2fr)",
    cell: ({ action }) => (
      <code className="cut" title={action}>
        {action}
      </code>
    ),
  },
  {
    id: "target",
    header: "Target",
    width: "minmax(14ch, 2fr)",
    from: 50,
    cell: (entry) => (
      <span className="cut" title={detailOf(entry)}>
        {detailOf(entry)}
      </span>
    ),
  },
  { id: "result", header: "Result", width: "12ch", cell: ({ refused }) => <Result refused={refused} /> },
];

const Line = ({ entry }: { entry: AuditEntry }) => (
  <NarrowRow>
    <code>{entry.action}</code>
    <Result refused={entry.refused} />
    <span className="faint">
      {entry.caller} {detailOf(entry)}
    </span>
    <span className="faint">
      <Age at={entry.at} />
    </span>
  </NarrowRow>
);

const csvOfAudit = (rows: readonly AuditEntry[]): string =>
  csvOf([
    ["at", "actor", "action", "refused", "detail"],
    ...rows.map(({ at, caller, action, refused, detail }) => [at, caller, action, refused, detail]),
  ]);
