import { useEffect, useMemo, useRef, useState } from "react";

/** A row with its place in a tree. Rows of a plain list have depth 0 and no children. */
export interface Placed<Row> {
  readonly id: string;
  readonly row: Row;
  readonly depth: number;
  readonly children: number;
  readonly isOpen: boolean;
}

/**
 * Puts children under their parents, in the order given. Rows below a folded one are left out. A row whose parent is not
 * in the list stands at the top.
 */
export function placeRows<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  parentOf: ((row: Row) => string | null | undefined) | undefined,
  isFolded: (row: Row) => boolean,
): readonly Placed<Row>[] {
  if (parentOf === undefined) return rows.map((row) => ({ id: idOf(row), row, depth: 0, children: 0, isOpen: false }));
  const ids = new Set(rows.map(idOf));
  const below = new Map<string | undefined, Row[]>();
  for (const row of rows) {
    const named = parentOf(row) ?? undefined;
    const parent = named !== undefined && ids.has(named) && named !== idOf(row) ? named : undefined;
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [row]);
    else siblings.push(row);
  }
  const placed: Placed<Row>[] = [];
  const place = (parent: string | undefined, depth: number): void => {
    for (const row of below.get(parent) ?? []) {
      const id = idOf(row);
      const children = below.get(id)?.length ?? 0;
      const isOpen = children > 0 && !isFolded(row);
      placed.push({ id, row, depth, children, isOpen });
      if (isOpen) place(id, depth + 1);
    }
  };
  place(undefined, 0);
  return placed;
}

/**
 * Keeps rows where they are while a person looks at them: values change in place, rows that left go, but new rows and a
 * new order wait. `apply` lets them in.
 */
export function useHeldOrder<Row>(placed: readonly Placed<Row>[], held: boolean) {
  const order = useRef<readonly string[]>([]);
  const [, draw] = useState(0);
  const { shown, waiting } = useMemo(() => {
    if (!held || order.current.length === 0) return { shown: placed, waiting: 0 };
    return keepOrder(order.current, placed);
  }, [placed, held]);
  useEffect(() => {
    order.current = shown.map(({ id }) => id);
  }, [shown]);
  const apply = (): void => {
    order.current = [];
    draw((times) => times + 1);
  };
  // After `apply` the memo above still holds the old rows until the next change.
  const isApplied = order.current.length === 0;
  return { shown: isApplied ? placed : shown, waiting: isApplied ? 0 : waiting, apply };
}

/** The rows of `placed` in an earlier order, and how many of them are new or would stand elsewhere. */
export function keepOrder<Row>(order: readonly string[], placed: readonly Placed<Row>[]) {
  const fresh = new Map(placed.map((each) => [each.id, each]));
  const shown = order.flatMap((id) => fresh.get(id) ?? []);
  const ids = shown.map(({ id }) => id);
  const known = new Set(ids);
  const wanted = placed.filter(({ id }) => known.has(id));
  const moved = wanted.filter(({ id }, at) => ids[at] !== id).length;
  return { shown, waiting: moved + placed.length - wanted.length };
}
