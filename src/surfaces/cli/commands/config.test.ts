import { expect, test } from "bun:test";
import { fitting } from "../table.ts";
import { shortRows } from "./config.ts";

const keys = [
  { key: "coordinator.exitTriggers.onShutdownSignal", value: false, origin: "default" },
  {
    key: "project.qualityGates",
    value: [{ name: "Tests", command: "npm test -- --run" }],
    origin: ".overstory/config.yaml:14",
  },
  { key: "merge.setup", value: null, origin: "default" },
];

const widthOf = (room: number): number => {
  const { columns, cells } = { ...shortRows(keys, room), cells: fitting(shortRows(keys, room), room) };
  const widest = columns.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  return widest.reduce((sum, width) => sum + width + 2, -2);
};

test("a list of settings fits the terminal, with every key and every origin whole", () => {
  for (const room of [80, 100, 200]) expect(widthOf(room)).toBeLessThanOrEqual(room);
  const narrow = fitting(shortRows(keys, 80), 80);
  expect(narrow.map(([key]) => key)).toEqual(keys.map(({ key }) => key));
  expect(narrow[0]?.at(-1)).toBe("default");
  expect(narrow[1]?.at(-1)).toBe("config.yaml:14");
});

test("what is no terminal gets values up to a length that can be read", () => {
  const [, gates] = shortRows(keys, undefined).cells;
  expect(gates?.[1]).toHaveLength(48);
});
