import { useMemo } from "react";
import { useReviews } from "../../api/resources.ts";
import type { Reviewable } from "../../api/types.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { Button, Filter } from "../../ui/controls.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { PageHead } from "../../ui/page.tsx";
import { withTurns } from "../../ui/safe-text.ts";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age, Facts, Middle } from "../../ui/text.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import css from "./review-page.module.css";

/** What is ready to be looked at, oldest first. */
export function ReviewList() {
  const { search, replace } = useUrl();
  const go = useGo();
  const query = useReviews();
  const words = (search.q ?? "").toLowerCase();
  const rows = useMemo(
    () =>
      (query.data?.items ?? [])
        .filter(
          ({ name, title, taskId, branch, runId }) =>
            (search.run === undefined || runId === search.run) &&
            `${name} ${title ?? ""} ${taskId ?? ""} ${branch}`.toLowerCase().includes(words),
        )
        .toSorted((a, b) => ((a.since ?? "") < (b.since ?? "") ? -1 : 1)),
    [query.data, words, search.run],
  );
  useCommands("Review", [
    {
      id: "review.filter",
      label: "Filter work to review",
      keys: "/",
      run: () => document.querySelector<HTMLElement>("#review-filter")?.focus(),
    },
  ]);
  const waiting = rows.filter(({ needsOperator }) => needsOperator).length;
  const empty =
    words === "" ? (
      <Empty
        why="Nothing is ready to be looked at. Work appears here when an agent reports that it is done and before it lands."
        command="ov merge list"
      />
    ) : (
      <Empty
        why={`No work to review matches ${search.q}.`}
        action={<Button onClick={() => replace({ q: undefined })}>Clear filter</Button>}
      />
    );
  return (
    <>
      <PageHead title="Review">
        <Filter
          id="review-filter"
          label="Filter: agent, task, branch"
          value={search.q ?? ""}
          onChange={(q) => replace({ q: q || undefined })}
        />
        <span className="faint">
          {count(rows.length, "branch", "branches")} ready{waiting === 0 ? "" : `, ${waiting} waiting for you`}
        </span>
      </PageHead>
      <Shown what="the work to review" query={query}>
        {() => (
          <Grid
            label="Work to review"
            rows={rows}
            idOf={nameOf}
            nameOf={nameOf}
            columns={columns}
            toneOf={toneOf}
            onOpen={({ name }) => go(`/review/${name}`)}
            narrow={narrow}
            empty={empty}
          />
        )}
      </Shown>
    </>
  );
}

const nameOf = ({ name }: Reviewable): string => name;
const toneOf = ({ needsOperator }: Reviewable) => (needsOperator ? ("attn" as const) : undefined);

/** The person or agent that decides about it. */
const Decides = ({ item: { needsOperator, merge, parent } }: { item: Reviewable }) =>
  needsOperator ? (
    <span data-tone="attn" className={css.word}>
      {merge?.awaitingApproval === true ? `you: approve merge ${merge.id}` : "you: add it to the queue"}
    </span>
  ) : (
    <span className="faint">{parent}</span>
  );

const LastReview = ({ item: { lastReview, head } }: { item: Reviewable }) => {
  if (lastReview === null) return <span className="faint">none</span>;
  const isOld = lastReview.commit !== null && lastReview.commit !== head;
  return (
    <span className={css.cut} title={`${lastReview.verdict.replaceAll("_", " ")} by ${lastReview.by}`}>
      {lastReview.verdict.replaceAll("_", " ")} by {lastReview.by}
      {isOld ? <span className="faint"> (older commit)</span> : null}
    </span>
  );
};

const columns: readonly Column<Reviewable>[] = [
  {
    id: "name",
    header: "Agent",
    width: "minmax(14ch, 20ch)",
    cell: ({ name }) => <Middle text={name} tail={8} />,
  },
  {
    id: "task",
    header: "Task",
    width: "minmax(16ch, 3fr)",
    cell: ({ title, taskId, branch }) => (
      <span className={css.cut} title={title ?? undefined} dir="auto">
        {withTurns(title ?? taskId ?? branch)}
      </span>
    ),
  },
  {
    id: "branch",
    header: "Branch",
    width: "minmax(10ch, 2fr)",
    from: 70,
    cell: ({ branch }) => <Middle text={branch} />,
  },
  {
    id: "size",
    header: "Size",
    width: "18ch",
    from: 48,
    cell: ({ commits, files }) => (
      <Facts facts={[count(commits, "commit"), files === null ? null : count(files, "file")]} />
    ),
  },
  { id: "verdict", header: "Checks", width: "12ch", cell: ({ verdict }) => <VerdictMark verdict={verdict} /> },
  {
    id: "review",
    header: "Last review",
    width: "minmax(16ch, 2fr)",
    from: 62,
    cell: (item) => <LastReview item={item} />,
  },
  { id: "decides", header: "Decides", width: "minmax(12ch, 25ch)", from: 44, cell: (item) => <Decides item={item} /> },
  { id: "since", header: "Waits", width: "6ch", align: "end", cell: ({ since }) => <Age at={since} /> },
];

const narrow = (item: Reviewable) => (
  <NarrowRow>
    <Middle text={item.name} tail={10} />
    <VerdictMark verdict={item.verdict} />
    <span className={css.cut}>
      {item.needsOperator ? <Decides item={item} /> : (item.title ?? item.taskId ?? item.branch)}
    </span>
    <Age at={item.since} />
  </NarrowRow>
);
