import { useCallback, useMemo, useState } from "react";
import type { Landed } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { operationName, useMergeActions } from "../../merges/merge-actions.ts";
import { useCommands } from "../../state/commands.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { clockTime, exactTime, shortCommit } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { type Look, LookMark } from "../../ui/look.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Middle } from "../../ui/text.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import css from "./merge-page.module.css";

/** An operation, or one branch of a landing of several. */
interface Row {
  readonly id: string;
  readonly parent: string | null;
  readonly op: Landed;
  readonly branch: Landed["branches"][number] | null;
}

const idOf = ({ id }: Row): string => id;
const parentOf = ({ parent }: Row): string | null => parent;
const nameOf = ({ op, branch }: Row): string => branch?.branch ?? operationName(op);

/** What was landed, taken back and promoted, newest first, each with the way back. */
export function HistoryList() {
  const { search, set } = useUrl();
  const query = useResource({ path: "/api/merge/ops", given: { limit: 100 }, topic: "merge-ops?limit=100" });
  const rows = useMemo(() => rowsOf(query.data?.items ?? [], search.q ?? ""), [query.data, search.q]);
  const empty =
    search.q === undefined ? (
      <Empty why="Nothing has landed yet. A branch lands when its gates have passed." command="ov merge log" />
    ) : (
      <Empty
        why={`No operation matches ${search.q}.`}
        action={<Button onClick={() => set({ q: undefined })}>Clear filter</Button>}
      />
    );
  return (
    <Shown what="the history" query={query}>
      {() => <Rows rows={rows} empty={empty} />}
    </Shown>
  );
}

function Rows({ rows, empty }: { rows: readonly Row[]; empty: React.ReactNode }) {
  const go = useGo();
  const { set } = useUrl();
  const { undo, offline } = useMergeActions();
  const [focused, setFocused] = useState<string>();
  const row = rows.find(({ id }) => id === focused);
  const undoRow = useCallback(
    ({ op, branch }: Row): void =>
      void (branch === null
        ? undo(op.id, operationName(op))
        : undo(String(branch.id), `the landing of ${branch.branch}`)),
    [undo],
  );
  const whyNot = useCallback((each: Row | undefined) => offline ?? whyNoUndo(each), [offline]);
  useCommands("History", [
    {
      id: "history.undo",
      label: row === undefined ? "Undo the operation" : `Undo ${nameOf(row)}`,
      keys: "u",
      run: () => row && undoRow(row),
      disabled: whyNot(row),
    },
  ]);
  const columns = useMemo(() => columnsWith(undoRow, whyNot), [undoRow, whyNot]);
  return (
    <Grid
      label="Operations"
      rows={rows}
      idOf={idOf}
      nameOf={nameOf}
      parentOf={parentOf}
      isFoldedAtFirst={() => true}
      columns={columns}
      toneOf={({ op, branch }) => (branch === null && op.problem !== null ? "attn" : undefined)}
      onOpen={({ op, branch }) => {
        const id = branch?.id ?? op.branches[0]?.id;
        if (id !== undefined) go(`/merge/${id}`);
      }}
      onPeek={({ op, branch }) => set({ peek: `merge:${branch?.id ?? op.branches[0]?.id}` })}
      actionsOf={(each) => [
        { label: "Undo...", run: () => undoRow(each), keys: "u", whyNot: whyNot(each), danger: true },
      ]}
      narrow={(each) => <NarrowLine row={each} />}
      onFocusRow={useCallback((each: Row | undefined) => setFocused(each?.id), [])}
      empty={empty}
    />
  );
}

/** What the server would refuse; it decides again when asked. */
function whyNoUndo(row: Row | undefined): string | undefined {
  if (row === undefined) return "No operation is chosen";
  const { kind, status, undoneBy } = row.op;
  if (kind === "accept" || kind === "restore") return "It was your decision; nothing came in by it";
  if (status !== "done") return status === "dropped" ? "It never happened" : "It goes on";
  return undoneBy === null ? undefined : "It was taken back";
}

const kinds: Readonly<Record<Landed["kind"], Look>> = {
  land: { glyph: "merged", tone: "good", word: "Landed" },
  undo: { glyph: "reverted", tone: "park", word: "Undone" },
  promote: { glyph: "acked", tone: "good", word: "Promoted" },
  begin: { glyph: "pending", tone: "idle", word: "Begun" },
  accept: { glyph: "completed", tone: "idle", word: "Accepted" },
  restore: { glyph: "reverted", tone: "idle", word: "Restored" },
};

function lookOf({ op, branch }: Row): Look {
  if (branch !== null) return { glyph: "merged", tone: "idle", word: "in it" };
  const look = kinds[op.kind];
  if (op.status === "intended") return { glyph: "merging", tone: "live", word: `${verbs[op.kind]} is under way` };
  if (op.status === "dropped") return { glyph: "blocked", tone: "attn", word: `${verbs[op.kind]} refused` };
  return op.undoneBy === null ? look : { ...look, tone: "idle", word: `${look.word}, taken back` };
}

const verbs: Readonly<Record<Landed["kind"], string>> = {
  land: "Landing",
  undo: "Undo",
  promote: "Promotion",
  begin: "Beginning",
  accept: "Acceptance",
  restore: "Restoring",
};

const worst = (op: Landed) =>
  (["unverified", "verified_with_gaps", "verified"] as const).find((each) =>
    op.branches.some(({ verdict }) => verdict === each),
  );

const verdictOf = ({ op, branch }: Row) =>
  op.kind !== "land" ? undefined : (branch?.verdict ?? (op.branches.length === 0 ? undefined : worst(op)));

type Undo = (row: Row) => void;
type WhyNot = (row: Row | undefined) => string | undefined;

const columnsWith = (undo: Undo, whyNot: WhyNot): readonly Column<Row>[] => [
  { id: "what", header: "What", width: "minmax(16ch, 24ch)", cell: (row) => <LookMark look={lookOf(row)} /> },
  {
    id: "when",
    header: "When",
    width: "6ch",
    cell: ({ op, branch }) =>
      branch === null ? (
        <time dateTime={op.updatedAt} title={exactTime(op.updatedAt)}>
          {clockTime(op.updatedAt)}
        </time>
      ) : null,
  },
  { id: "branches", header: "Branches", width: "minmax(18ch, 2fr)", cell: (row) => <Subject row={row} /> },
  {
    id: "moved",
    header: "Moved",
    width: "minmax(40ch, 1.4fr)",
    from: 52,
    cell: ({ op, branch }) =>
      branch !== null ? null : (
        <span className={css.moved} title={op.problem ?? `${op.ref} from ${op.beforeCommit} to ${op.afterCommit}`}>
          {op.problem !== null ? (
            <span className={css.warn}>{op.problem}</span>
          ) : (
            <>
              <code>{shortCommit(op.beforeCommit)}</code>
              {" to "}
              <code>{shortCommit(op.afterCommit)}</code> on <Middle text={op.ref.replace("refs/heads/", "")} />
            </>
          )}
        </span>
      ),
  },
  { id: "proof", header: "Proof", width: "12ch", from: 60, cell: (row) => <VerdictMark verdict={verdictOf(row)} /> },
  { id: "by", header: "By", width: "10ch", from: 90, cell: ({ op, branch }) => (branch === null ? op.actor : null) },
  {
    id: "undo",
    header: "",
    width: "8ch",
    from: 44,
    cell: (row) =>
      whyNoUndo(row) === undefined ? (
        <Button
          look="quiet"
          tabIndex={-1}
          whyNot={whyNot(row)}
          aria-label={`Undo ${nameOf(row)}`}
          onClick={() => undo(row)}
        >
          Undo...
        </Button>
      ) : null,
  },
];

const Subject = ({ row: { op, branch } }: { row: Row }) => {
  const names = branch === null ? op.branches.map((each) => each.branch) : [branch.branch];
  const [first = op.ref.replace("refs/heads/", "")] = names;
  return (
    <span className={css.branch} title={names.join(", ")}>
      <span className="mono">
        <Middle text={first} tail={18} />
      </span>
      {names.length > 1 ? <span className={css.title}>and {names.length - 1} more</span> : null}
    </span>
  );
};

const NarrowLine = ({ row }: { row: Row }) => (
  <NarrowRow>
    <Subject row={row} />
    <LookMark look={lookOf(row)} />
    <span className={css.why}>{row.op.problem ?? clockTime(row.op.updatedAt)}</span>
    <VerdictMark verdict={verdictOf(row)} />
  </NarrowRow>
);

function rowsOf(ops: readonly Landed[], q: string): readonly Row[] {
  const words = q.toLowerCase();
  return ops
    .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
    .filter((op) =>
      `${operationName(op)} ${op.branches.map(({ branch }) => branch).join(" ")}`.toLowerCase().includes(words),
    )
    .flatMap((op): Row[] => [
      { id: op.id, parent: null, op, branch: null },
      ...(op.kind === "land" && op.branches.length > 1
        ? op.branches.map((branch) => ({ id: `${op.id}/${branch.id}`, parent: op.id, op, branch }))
        : []),
    ]);
}
