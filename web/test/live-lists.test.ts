import { expect, test } from "bun:test";
import { withItems } from "../src/live/with-items.ts";
import { keepOrder, placeRows } from "../src/ui/grid-order.ts";

const list = {
  items: [
    { name: "a", state: "in_turn" },
    { name: "b", state: "in_turn" },
  ],
  next: "x",
};

test("a change reaches its item by name, a new item comes last, and one that is gone leaves", () => {
  const after = withItems(list, [
    { name: "b", state: "stalled" },
    { name: "c", state: "booting" },
    { id: "a", gone: true },
  ]);
  expect(after).toEqual({
    items: [
      { name: "b", state: "stalled" },
      { name: "c", state: "booting" },
    ],
    next: "x",
  });
});

test("an item that did not change stays the same object, so that its row is not drawn again", () => {
  const after = withItems(list, [{ name: "b", state: "stalled" }]) as typeof list;
  expect(after.items[0]).toBe(list.items[0] as (typeof list.items)[0]);
});

const row = (id: string, parent: string | null = null) => ({ id, parent });
const placed = (rows: readonly ReturnType<typeof row>[], folded: readonly string[] = []) =>
  placeRows(
    rows,
    ({ id }) => id,
    ({ parent }) => parent,
    ({ id }) => folded.includes(id),
  );

test("children stand under their parent in the order given, and a folded parent hides them", () => {
  const rows = [row("c", "lead"), row("lead"), row("orphan", "nobody"), row("a", "lead")];
  expect(placed(rows).map(({ id, depth }) => `${depth}${id}`)).toEqual(["0lead", "1c", "1a", "0orphan"]);
  expect(placed(rows, ["lead"]).map(({ id }) => id)).toEqual(["lead", "orphan"]);
});

test("while a person looks, rows keep their places and the changes are counted", () => {
  const before = ["a", "b", "c"];
  const { shown, waiting } = keepOrder(before, placed([row("c"), row("new"), row("b")]));
  expect(shown.map(({ id }) => id)).toEqual(["b", "c"]);
  expect(waiting).toBe(3);
});
