import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight, MoreHorizontal } from "lucide-react";
import { type DragEvent, type KeyboardEvent, memo, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useCommands } from "../state/commands.ts";
import { count } from "../state/words.ts";
import type { Tone } from "./glyph.tsx";
import css from "./grid.module.css";
import { useMeasures } from "./grid-measures.ts";
import { type Placed, placeRows, useHeldOrder } from "./grid-order.ts";
import { Menu, type MenuItem } from "./overlays.tsx";
import { type RowDrag, useRowDrag } from "./row-drag.ts";

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** A track of a CSS grid: `minmax(12ch, 1fr)`. */
  readonly width: string;
  readonly align?: "end";
  /** The list must be this wide, in em, for the column to be there. */
  readonly from?: number;
  readonly sortable?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

export interface GridProps<Row> {
  readonly label: string;
  /** In the order in which they are to be shown. */
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  /** Makes a tree of the list. */
  readonly parentOf?: ((row: Row) => string | null | undefined) | undefined;
  /** Whether a row with children is closed at first. */
  readonly isFoldedAtFirst?: (row: Row) => boolean;
  readonly toneOf?: (row: Row) => Tone | undefined;
  /** The name of a row for a screen reader. */
  readonly nameOf: (row: Row) => string;
  readonly onOpen: (row: Row) => void;
  readonly onPeek?: (row: Row) => void;
  readonly actionsOf?: (row: Row) => readonly (MenuItem | undefined)[];
  /** A row on a narrow screen: two lines instead of columns. */
  readonly narrow?: (row: Row) => ReactNode;
  /** The width in em below which rows are narrow. */
  readonly narrowBelow?: number;
  readonly sort?: { readonly id: string; readonly descending: boolean } | undefined;
  readonly onSort?: (id: string) => void;
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (ids: ReadonlySet<string>) => void;
  readonly onFocusRow?: (row: Row | undefined) => void;
  /** Off for a moment after a person has moved a row: then it is to be seen at its new place. */
  readonly holdsOrder?: boolean;
  readonly drag?: RowDrag<Row>;
  readonly empty: ReactNode;
}

const nothing: ReadonlySet<string> = new Set();
const usuallyNarrow = 40;

/** The list of every page: virtual, by keyboard, with selection, row menu and, where rows have parents, as a tree. */
export function Grid<Row>(props: GridProps<Row>) {
  const { rows, idOf, parentOf, isFoldedAtFirst, selected = nothing, onSelect, onPeek, onFocusRow } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { width, rowHeight, twoLines } = useMeasures(scroller);
  const [turned, setTurned] = useState(nothing);
  const [hovered, setHovered] = useState(false);
  const [focusedId, setFocusedId] = useState<string>();
  const [hasFocus, setHasFocus] = useState(false);
  const [menuFor, setMenuFor] = useState<string>();
  const anchor = useRef<string>(undefined);

  const placed = useMemo(
    () => placeRows(rows, idOf, parentOf, (row) => (isFoldedAtFirst?.(row) ?? false) !== turned.has(idOf(row))),
    [rows, idOf, parentOf, isFoldedAtFirst, turned],
  );
  const { shown, waiting, apply } = useHeldOrder(
    placed,
    props.holdsOrder !== false && (hovered || hasFocus || selected.size > 0),
  );
  const at = Math.max(
    0,
    shown.findIndex(({ id }) => id === focusedId),
  );
  const isNarrow = props.narrow !== undefined && width < (props.narrowBelow ?? usuallyNarrow);
  const columns = useMemo(() => props.columns.filter(({ from = 0 }) => width >= from), [props.columns, width]);
  const template = [...columns.map((column) => column.width), ...(props.actionsOf ? ["var(--ctl)"] : [])].join(" ");

  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? twoLines : rowHeight),
    getItemKey: (index) => shown[index]?.id ?? index,
    overscan: 10,
    // The row with the focus stays on the page, or the focus would be lost.
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), ...(at < shown.length ? [at] : [])])].toSorted((a, b) => a - b),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are taken anew when density or form change
  useEffect(() => virtual.measure(), [rowHeight, twoLines, isNarrow]);

  useCommands(props.label, [
    ...(waiting > 0 ? [{ id: `${props.label}.apply`, label: "Apply waiting changes", keys: ".", run: apply }] : []),
    ...(shown.length > 0
      ? [{ id: `${props.label}.enter`, label: "Go to the list", keys: "j", run: () => focusRow(at), onlyKeys: true }]
      : []),
  ]);

  const focusRow = (index: number): void => {
    const next = shown[Math.max(0, Math.min(shown.length - 1, index))];
    if (next === undefined) return;
    setFocusedId(next.id);
    onFocusRow?.(next.row);
    virtual.scrollToIndex(shown.indexOf(next));
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>("[role=row][tabindex='0']")?.focus());
  };

  const select = (index: number, extend: boolean): void => {
    const target = shown[index];
    if (target === undefined || onSelect === undefined) return;
    if (extend && anchor.current !== undefined) {
      const from = shown.findIndex(({ id }) => id === anchor.current);
      const [low, high] = [Math.min(from, index), Math.max(from, index)];
      onSelect(new Set(shown.slice(low, high + 1).map(({ id }) => id)));
      return;
    }
    anchor.current = target.id;
    const next = new Set(selected);
    if (!next.delete(target.id)) next.add(target.id);
    onSelect(next);
  };

  const turn = (id: string): void =>
    setTurned((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.defaultPrevented || !(event.target as HTMLElement).matches("[role=row]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const current = shown[at];
    if (current === undefined) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      Home: 0,
      End: shown.length - 1,
      PageDown: at + page,
      PageUp: at - page,
    };
    const to = moves[event.key];
    const acts: Readonly<Record<string, () => void>> = {
      ArrowRight: () => (current.children > 0 && !current.isOpen ? turn(current.id) : focusRow(at + 1)),
      ArrowLeft: () => (current.isOpen ? turn(current.id) : focusRow(parentIndex(shown, at))),
      Enter: () => props.onOpen(current.row),
      o: () => onPeek?.(current.row),
      " ": () => select(at, event.shiftKey),
      Escape: () => onSelect?.(nothing),
      ContextMenu: () => setMenuFor(current.id),
      F10: () => event.shiftKey && setMenuFor(current.id),
    };
    if (to !== undefined) {
      if (event.shiftKey && event.key.startsWith("Arrow")) {
        anchor.current ??= current.id;
        select(Math.max(0, Math.min(shown.length - 1, to)), true);
      }
      focusRow(to);
    } else if (acts[event.key] === undefined) return;
    else acts[event.key]?.();
    event.preventDefault();
  };

  const { words, dropAt, onDrag } = useRowDrag(props.drag, shown);
  const latest = useRef<RowHandlers<Row>>(undefined as never);
  latest.current = { ...props, turn, setMenuFor, focus: (id) => setFocusedId(id), onDrag };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only holds the order of the rows
    <div className={css.grid} onMouseEnter={() => setHovered(true)} onMouseLeave={() => setHovered(false)}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it is a grid or a treegrid, which the rule cannot see */}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: the same */}
      <div
        ref={scroller}
        className={css.scroller}
        role={parentOf === undefined ? "grid" : "treegrid"}
        aria-label={props.label}
        aria-rowcount={shown.length + 1}
        aria-multiselectable={onSelect !== undefined}
        onKeyDown={onKeyDown}
        onFocus={() => setHasFocus(true)}
        onBlur={(event) => setHasFocus(event.currentTarget.contains(event.relatedTarget))}
      >
        <div role="rowgroup" className={isNarrow ? "visually-hidden" : css.head}>
          <div
            role="row"
            tabIndex={-1}
            aria-rowindex={1}
            className={css.header}
            style={{ gridTemplateColumns: template }}
          >
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
            {props.actionsOf === undefined ? null : (
              <div role="columnheader" tabIndex={-1}>
                <span className="visually-hidden">Actions</span>
              </div>
            )}
          </div>
        </div>
        {shown.length === 0 ? props.empty : null}
        <div role="rowgroup" className={css.body} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, size }) => {
            const each = shown[index];
            return each === undefined ? null : (
              <GridRow
                key={each.id}
                placed={each as Placed<unknown>}
                index={index}
                start={start}
                size={size}
                template={template}
                columns={columns as readonly Column<unknown>[]}
                isTree={parentOf !== undefined}
                isNarrow={isNarrow}
                isFocused={index === at}
                isSelected={selected.has(each.id)}
                isMenuOpen={menuFor === each.id}
                drop={dropAt(each.id)}
                latest={latest as never}
              />
            );
          })}
        </div>
      </div>
      {words === undefined ? null : <p className={css.waiting}>{words}</p>}
      {waiting > 0 && words === undefined ? (
        <button type="button" className={css.waiting} onClick={apply}>
          {count(waiting, "change")}, press . to apply
        </button>
      ) : null}
    </div>
  );
}

interface RowHandlers<Row> extends GridProps<Row> {
  readonly turn: (id: string) => void;
  readonly setMenuFor: (id: string | undefined) => void;
  readonly focus: (id: string) => void;
  readonly onDrag: (event: DragEvent, id: string) => void;
}

interface GridRowProps {
  readonly placed: Placed<unknown>;
  readonly index: number;
  readonly start: number;
  readonly size: number;
  readonly template: string;
  readonly columns: readonly Column<unknown>[];
  readonly isTree: boolean;
  readonly isNarrow: boolean;
  readonly isFocused: boolean;
  readonly isSelected: boolean;
  readonly isMenuOpen: boolean;
  readonly drop: "yes" | "no" | undefined;
  readonly latest: { readonly current: RowHandlers<unknown> };
}

const sameRow = (a: GridRowProps, b: GridRowProps): boolean =>
  a.placed.row === b.placed.row &&
  a.placed.depth === b.placed.depth &&
  a.placed.isOpen === b.placed.isOpen &&
  a.placed.children === b.placed.children &&
  (Object.keys(a) as (keyof GridRowProps)[]).every((key) => key === "placed" || a[key] === b[key]);

const GridRow = memo(function GridRow({ placed, index, start, size, template, columns, latest, ...is }: GridRowProps) {
  const { row, id, depth, children, isOpen } = placed;
  const { toneOf, nameOf, narrow, onOpen, actionsOf, turn, setMenuFor, focus } = latest.current;
  const onDrag = (event: DragEvent): void => latest.current.onDrag(event, id);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid hears the keys of all its rows
    <div
      role="row"
      className={css.row}
      aria-label={nameOf(row)}
      aria-rowindex={index + 2}
      aria-selected={is.isSelected}
      {...(is.isTree ? { "aria-level": depth + 1 } : {})}
      {...(children > 0 ? { "aria-expanded": isOpen } : {})}
      tabIndex={is.isFocused ? 0 : -1}
      data-tone={toneOf?.(row)}
      style={{
        transform: `translateY(${start}px)`,
        height: size,
        gridTemplateColumns: is.isNarrow ? undefined : template,
      }}
      data-narrow={is.isNarrow || undefined}
      data-drop={is.drop}
      {...(latest.current.drag?.isMovable(row) === true ? { draggable: true, onDragStart: onDrag } : {})}
      {...(latest.current.drag === undefined ? {} : { onDragOver: onDrag, onDrop: onDrag, onDragEnd: onDrag })}
      onFocus={() => focus(id)}
      onClick={(event) => {
        if ((event.target as HTMLElement).closest("button, a, input") === null) onOpen(row);
      }}
      onContextMenu={(event) => {
        if (actionsOf === undefined) return;
        event.preventDefault();
        setMenuFor(id);
      }}
    >
      {is.isNarrow ? (
        <div role="gridcell" tabIndex={-1} className={css.narrow}>
          {narrow?.(row)}
        </div>
      ) : (
        columns.map((column, place) => (
          <div key={column.id} role="gridcell" tabIndex={-1} className={css.cell} data-align={column.align}>
            {place === 0 && is.isTree ? (
              <span className={css.twist} style={{ marginLeft: `${depth * 1.25}em` }}>
                {children > 0 ? (
                  <button type="button" tabIndex={-1} aria-label={isOpen ? "Fold" : "Unfold"} onClick={() => turn(id)}>
                    {isOpen ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
                  </button>
                ) : null}
              </span>
            ) : null}
            {column.cell(row)}
          </div>
        ))
      )}
      {actionsOf === undefined ? null : (
        <div role="gridcell" tabIndex={-1} className={css.actions}>
          <Menu
            label={`Actions on ${nameOf(row)}`}
            items={is.isMenuOpen ? actionsOf(row) : []}
            open={is.isMenuOpen}
            onOpen={(open) => setMenuFor(open ? id : undefined)}
          >
            <button type="button" tabIndex={-1} aria-label={`Actions on ${nameOf(row)}`}>
              <MoreHorizontal aria-hidden />
            </button>
          </Menu>
        </div>
      )}
    </div>
  );
}, sameRow);

function HeaderCell<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: GridProps<Row>["sort"];
  onSort: GridProps<Row>["onSort"];
}) {
  const direction = sort?.id === column.id ? (sort.descending ? "descending" : "ascending") : "none";
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      className={css.cell}
      data-align={column.align}
      {...(column.sortable ? { "aria-sort": direction } : {})}
    >
      {column.sortable === true ? (
        <button type="button" onClick={() => onSort?.(column.id)}>
          {column.header}
          <span aria-hidden>{direction === "none" ? "" : direction === "ascending" ? " ↑" : " ↓"}</span>
        </button>
      ) : (
        column.header
      )}
    </div>
  );
}

const parentIndex = (shown: readonly Placed<unknown>[], at: number): number => {
  const depth = shown[at]?.depth ?? 0;
  const above = shown.slice(0, at).findLastIndex((each) => each.depth < depth);
  return above < 0 ? at : above;
};
