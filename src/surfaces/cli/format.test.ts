import { expect, test } from "bun:test";
import { ago, cut, duration, elapsed, shortTime, timeOfDay } from "../shared/format.ts";
import { makePaint, plain } from "../shared/paint.ts";
import { fitting, renderRows, table, withRoom } from "./table.ts";

test("a duration has two units at most", () => {
  const shown = [-5, 0, 999, 12_000, 59_999, 180_000, 225_000, 7_200_000, 8_100_000, 8_130_000, 90_000_000].map(
    duration,
  );
  expect(shown).toEqual(["0s", "0s", "0s", "12s", "59s", "3m", "3m 45s", "2h", "2h 15m", "2h 15m", "25h"]);
});

test("relative time names one unit, and the future is just now", () => {
  const now = 1_000_000_000;
  const shown = [0, 59_000, 60_000, 3_599_000, 3_600_000, 86_399_000, 86_400_000, 300_000_000].map((ms) =>
    ago(now - ms, now),
  );
  expect(shown).toEqual(["0s ago", "59s ago", "1m ago", "59m ago", "1h ago", "23h ago", "1d ago", "3d ago"]);
  expect(ago(now + 5000, now)).toBe("just now");
});

test("elapsed time is in milliseconds below a second, else in seconds with two decimals", () => {
  expect([0.4, 35, 999.4, 999.6, 1200, 61_234].map(elapsed)).toEqual([
    "0ms",
    "35ms",
    "999ms",
    "1.00s",
    "1.20s",
    "61.23s",
  ]);
});

test("the time of day is cut out of the ISO text", () => {
  expect(timeOfDay(new Date(2026, 10, 5, 14, 3, 59).getTime())).toBe("14:03:59");
});

test("cutting counts characters, not their halves, and marks the loss", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdefg", 6)).toBe("abcde…");
  expect(cut("👍👍👍", 3)).toBe("👍👍👍");
  expect(cut("👍👍👍", 2)).toBe("👍…");
});

const rows = {
  columns: ["id", "title", "n"],
  cells: [
    ["a", "漢字", "1"],
    ["long", "b\\c\n", ""],
  ],
};

test("a table pads by what the terminal shows, wide characters and colours included", () => {
  expect(table(rows, plain)).toBe("id    title  n\na     漢字   1\nlong  b\\c⏎");
  const paint = makePaint("256");
  const coloured = table(rows, paint, (cell, column) => (column === "id" ? paint.red(cell) : cell));
  expect(Bun.stripANSI(coloured)).toBe(table(rows, plain));
  expect(coloured).toContain("\u001b[31ma\u001b[39m     漢字");
});

test("tsv doubles backslashes, so that its escapes can be undone", () => {
  expect(renderRows(rows, "tsv", plain)).toBe("id\ttitle\tn\na\t漢字\t1\nlong\tb\\\\c\\n\t");
});

test("json lines are the objects when there are some, else made of the columns", () => {
  expect(renderRows(rows, "jsonl", plain).split("\n")[0]).toBe('{"id":"a","title":"漢字","n":"1"}');
  expect(renderRows({ ...rows, objects: [{ id: 1 }, { id: 2 }] }, "jsonl", plain)).toBe('{"id":1}\n{"id":2}');
});

test("an empty list is a header, or nothing", () => {
  const none = { columns: ["id"], cells: [] };
  expect(renderRows(none, "table", plain)).toBe("id");
  expect(renderRows(none, "jsonl", plain)).toBe("");
});

test("a moment is told where the reader is, as short as it can be", () => {
  const now = new Date(2026, 10, 15, 18, 0).getTime();
  expect(shortTime(new Date(2026, 10, 15, 9, 5).getTime(), now)).toBe("09:05");
  expect(shortTime(new Date(2026, 10, 4, 9, 5).getTime(), now)).toBe("Nov 4 09:05");
  expect(shortTime(new Date(2025, 10, 4, 9, 5).getTime(), now)).toBe("Nov 4 2025 09:05");
});

test("the last column of a table is cut where the terminal ends, and nothing is cut in a pipe", () => {
  const rows = {
    columns: ["ID", "TITLE"],
    cells: [
      ["t-1", "x".repeat(100)],
      ["t-22", "short"],
    ],
  };
  const [long, short] = fitting(rows, 40);
  expect(long).toEqual(["t-1", `${"x".repeat(33)}…`]);
  expect(short).toEqual(["t-22", "short"]);
  expect(fitting(rows, undefined)).toBe(rows.cells);
  expect(fitting(rows, 5)[0]?.[1]).toHaveLength(12);
});

test("optional columns are left out before anything is cut, and only as many as must go", () => {
  const rows = {
    columns: ["AGENT", "MODEL", "INPUT", "COST"],
    cells: [["b1", "m".repeat(30), "1234567", "$0.0606 + n/a"]],
    optional: ["MODEL", "INPUT"],
  };
  expect(withRoom(rows, 80).columns).toEqual(["AGENT", "MODEL", "INPUT", "COST"]);
  expect(withRoom(rows, 40)).toMatchObject({ columns: ["AGENT", "INPUT", "COST"] });
  expect(withRoom(rows, 20)).toMatchObject({ columns: ["AGENT", "COST"], cells: [["b1", "$0.0606 + n/a"]] });
  expect(withRoom(rows, undefined)).toBe(rows);
});

test("where the last column is not enough, the widest ones are cut, and never the first", () => {
  const rows = {
    columns: ["ID", "STATUS", "HOLDER", "TITLE"],
    cells: [["a".repeat(30), "b".repeat(40), "c".repeat(20), "d".repeat(50)]],
  };
  const [row = []] = fitting(rows, 80);
  expect(row.map((cell) => cell.length)).toEqual([30, 16, 16, 12]);
  expect(fitting(rows, 20)[0]?.map((cell) => cell.length)).toEqual([30, 12, 12, 12]);
});
