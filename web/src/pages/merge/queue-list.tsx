import { useCallback, useMemo, useState } from "react";
import type { Merge } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useMergeActions } from "../../merges/merge-actions.ts";
import { mergeLook } from "../../merges/merge-look.ts";
import { MergeMark } from "../../merges/merge-state.tsx";
import { placeBeside } from "../../merges/place-beside.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { Button } from "../../ui/controls.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age, Middle } from "../../ui/text.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import css from "./merge-page.module.css";

const idOf = ({ id }: Merge): string => String(id);
const nameOf = ({ id, branch, why }: Merge): string => `Merge ${id} of ${branch}: ${why}`;
const toneOf = (merge: Merge) => {
  const { tone } = mergeLook(merge);
  return tone === "idle" ? undefined : tone;
};

/** What is on its way in landing order, and above it what needs a person, with the cause. */
export function QueueList() {
  const { search, set } = useUrl();
  const run = search.run === undefined ? {} : { run: search.run };
  const topic = search.run === undefined ? "queue" : `queue?run=${encodeURIComponent(search.run)}`;
  const query = useResource({ path: "/api/merge/queue", given: run, topic });
  const shown = useMemo(() => matching(query.data?.items ?? [], search.q ?? ""), [query.data, search.q]);
  const empty =
    search.q === undefined ? (
      <Empty why="The queue is empty. Branches arrive when a lead sends merge_ready." command="ov merge add <branch>" />
    ) : (
      <Empty
        why={`No merge matches ${search.q}.`}
        action={<Button onClick={() => set({ q: undefined })}>Clear filter</Button>}
      />
    );
  return (
    <Shown what="the queue" query={query}>
      {() => <Rows merges={shown} empty={empty} />}
    </Shown>
  );
}

function Rows({ merges, empty }: { merges: readonly Merge[]; empty: React.ReactNode }) {
  const { set } = useUrl();
  const go = useGo();
  const actions = useMergeActions();
  const [focused, setFocused] = useState<number>();
  const [holdsOrder, setHolds] = useState(true);
  const merge = merges.find(({ id }) => id === focused);
  const columns = useMemo(() => columnsWith(actions), [actions]);
  const moveTo = (moved: Merge, priority: number): void => {
    // The row is to be seen at its new place, so the order is not held for the moment that the server needs.
    setHolds(false);
    setTimeout(() => setHolds(true), ownMoveMs);
    void actions.move(moved, priority);
  };
  const move = (by: 1 | -1): void => {
    if (merge !== undefined) moveTo(merge, merge.priority + by);
  };
  const name = merge === undefined ? "the merge" : `merge ${merge.id}`;
  const none = "No merge is chosen";
  const why = (act: Merge["can"][number]) => (merge === undefined ? none : actions.whyNot(merge, act));
  useCommands("Merges", [
    {
      id: "merge.approve",
      label: `Approve ${name}`,
      keys: "a",
      run: () => merge && actions.approve(merge),
      disabled: why("approve"),
    },
    {
      id: "merge.reject",
      label: `Reject ${name}`,
      keys: "x",
      run: () => merge && actions.reject(merge),
      disabled: why("reject"),
    },
    {
      id: "merge.undo",
      label: `Undo ${name}`,
      keys: "u",
      run: () => merge && actions.undoEntry(merge),
      disabled: why("undo"),
    },
    {
      id: "merge.sooner",
      label: `Land ${name} sooner`,
      keys: "Alt+ArrowUp",
      run: () => move(-1),
      disabled: merge === undefined ? none : actions.sooner(merge),
    },
    {
      id: "merge.later",
      label: `Land ${name} later`,
      keys: "Alt+ArrowDown",
      run: () => move(1),
      disabled: merge === undefined ? none : actions.later(merge),
    },
  ]);
  return (
    <Grid
      label="Merge queue"
      rows={merges}
      idOf={idOf}
      nameOf={nameOf}
      columns={columns}
      toneOf={toneOf}
      onOpen={({ id }) => go(`/merge/${id}`)}
      onPeek={({ id }) => set({ peek: `merge:${id}` })}
      actionsOf={(each) => [
        ...actions.itemsFor(each),
        ...dependencies(each, merges).map(({ label, others }) => ({
          label,
          run: () => actions.landAfter(each, others),
          whyNot: actions.whyNot(each, "move"),
        })),
      ]}
      narrow={(each) => <NarrowLine merge={each} />}
      onFocusRow={useCallback((each: Merge | undefined) => setFocused(each?.id), [])}
      holdsOrder={holdsOrder}
      drag={{
        isMovable: (each) => actions.whyNot(each, "move") === undefined,
        planOf: (moved, over, goesDown) => {
          const why = actions.whyNot(over, "move");
          if (why !== undefined) return { words: `#${over.id}: ${why}` };
          const { words, priority } = placeBeside(moved, over, goesDown);
          return priority === undefined ? { words } : { words, run: () => moveTo(moved, priority) };
        },
      }}
      empty={empty}
    />
  );
}

const ownMoveMs = 3000;

/** Ways to make an entry wait for the one above it, or for none. */
function dependencies(merge: Merge, merges: readonly Merge[]) {
  const above = merges[merges.indexOf(merge) - 1];
  return [
    ...(above === undefined || merge.waitsFor.includes(above.id)
      ? []
      : [{ label: `Land after #${above.id}`, others: [...merge.dependsOn, above.id] }]),
    ...(merge.waitsFor.length === 0 ? [] : [{ label: "Wait for no other", others: [] }]),
  ];
}

type Actions = ReturnType<typeof useMergeActions>;

const columnsWith = (actions: Actions): readonly Column<Merge>[] => [
  { id: "id", header: "#", width: "5ch", align: "end", cell: ({ id }) => <span className="figure">{id}</span> },
  { id: "state", header: "State", width: "17ch", cell: (merge) => <MergeMark merge={merge} /> },
  {
    id: "branch",
    header: "Branch",
    width: "minmax(18ch, 2fr)",
    cell: ({ branch }) => (
      <span className={css.branch}>
        <Middle text={branch} tail={18} />
      </span>
    ),
  },
  {
    id: "task",
    header: "Task",
    width: "minmax(10ch, 1.4fr)",
    from: 84,
    cell: ({ title, taskId }) => <span className={css.title}>{title ?? taskId}</span>,
  },
  {
    id: "why",
    header: "Cause, or when it lands",
    width: "minmax(20ch, 3fr)",
    cell: (merge) => (
      <span className={css.why} data-tone={toneOf(merge)} title={merge.why}>
        {merge.why}
      </span>
    ),
  },
  {
    id: "by",
    header: "By",
    width: "minmax(8ch, 12ch)",
    from: 76,
    cell: (merge) => <Middle text={merge.agentName ?? merge.enqueuedBy} tail={6} />,
  },
  { id: "proof", header: "Proof", width: "12ch", from: 64, cell: ({ verdict }) => <VerdictMark verdict={verdict} /> },
  {
    id: "priority",
    header: "Prio",
    width: "4ch",
    align: "end",
    from: 56,
    cell: ({ priority }) => <span className="figure">{priority}</span>,
  },
  {
    id: "wait",
    header: "Wait",
    width: "5ch",
    align: "end",
    from: 48,
    cell: ({ enqueuedAt }) => <Age at={enqueuedAt} />,
  },
  { id: "act", header: "Next", width: "11ch", from: 60, cell: (merge) => <NextAct merge={merge} actions={actions} /> },
];

/** The act that this entry waits for, in its row. */
function NextAct({ merge, actions }: { merge: Merge; actions: Actions }) {
  const acts = [
    { verb: "approve", label: "Approve", run: actions.approve },
    { verb: "retry", label: "Try again", run: actions.retry },
    { verb: "resume", label: "Look again", run: actions.resume },
  ] as const;
  const next = merge.isBack ? undefined : acts.find(({ verb }) => merge.can.includes(verb));
  return next === undefined ? null : (
    <Button
      look="quiet"
      tabIndex={-1}
      whyNot={actions.offline}
      aria-label={`${next.label}: merge ${merge.id}`}
      onClick={() => next.run(merge)}
    >
      {next.label}
    </Button>
  );
}

/** Two lines for a narrow screen: number, branch and state, then the cause. */
const NarrowLine = ({ merge }: { merge: Merge }) => (
  <NarrowRow>
    <span className={`mono ${css.names}`}>
      #{merge.id} <Middle text={merge.branch} />
    </span>
    <MergeMark merge={merge} />
    <span className={css.why} data-tone={toneOf(merge)}>
      {merge.why}
    </span>
    <Age at={merge.enqueuedAt} />
  </NarrowRow>
);

function matching(merges: readonly Merge[], q: string): readonly Merge[] {
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  // Changes of single entries come in any order.
  const inOrder = merges.toSorted((a, b) => a.rank - b.rank || a.id - b.id);
  return inOrder.filter((merge) => {
    const text = `#${merge.id} ${merge.branch} ${merge.agentName ?? ""} ${merge.taskId ?? ""} ${merge.title ?? ""} ${merge.status}`;
    return words.every((word) => text.toLowerCase().includes(word));
  });
}
