import { expect, test } from "bun:test";
import { anAgent, aRun, noon } from "../../../../testkit/contracts/store/rows.ts";
import type { RunAgent } from "../../../usecases/runs/read-runs.ts";
import { plain } from "../../shared/paint.ts";
import { barOf, timelineLines } from "./timeline.ts";

const minute = 60_000;
const turn = (from: number, to: number | null) => ({
  id: `t${from}`,
  status: "settled" as const,
  startedAt: noon + from * minute,
  endedAt: to === null ? null : noon + to * minute,
});
const worked = (name: string, from: number, to: number, ...turns: RunAgent["turns"]): RunAgent => ({
  agent: anAgent(name, { startedAt: noon + from * minute }),
  durationMs: (to - from) * minute,
  turns,
});
const hour = { from: noon, ms: 60 * minute, columns: 12 };

test("a bar has a column for each part of the run: a turn, a wait, or nothing", () => {
  expect(barOf(worked("b1", 5, 40, turn(5, 14), turn(30, 34)), hour)).toBe(" ██···█··   ");
  expect(barOf(worked("b1", 0, 59, turn(50, null)), hour)).toBe("··········██");
});

test("a turn of an instant is seen, and what began before the run or ends after it stays within the bar", () => {
  expect(barOf(worked("b1", 0, 60, turn(30, 30)), hour)).toBe("······█·····");
  expect(barOf(worked("b1", -10, 90, turn(-5, 2), turn(70, 80)), hour)).toBe("█··········█");
});

test.each([60, 80, 200])("no line is wider than %d columns, also with wide characters and long names", (width) => {
  const agents = [
    worked("b1", 0, 60, turn(0, 5)),
    worked("設計担当の長い名前のエージェント", 0, 30),
    worked("x".repeat(60), 1, 2),
  ];
  const lines = timelineLines(plain, { run: aRun("r1", { startedAt: noon }), durationMs: 60 * minute, agents }, width);
  expect(lines).toHaveLength(4);
  expect(lines.filter((line) => Bun.stringWidth(line) > width)).toEqual([]);
  const starts = lines.slice(1).map((line) => Bun.stringWidth(line.slice(0, line.search(/[█·]/))));
  expect(new Set(starts.slice(0, 2)).size).toBe(1);
  expect(lines[2]).toContain("設計担当の長い");
});
