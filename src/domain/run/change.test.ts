import { describe, expect, test } from "bun:test";
import { aCriterion } from "../../../testkit/contracts/store/rows.ts";
import { amendCriterion, changeObjective, isWithdrawal, type RunChange } from "./change.ts";

const by = { by: "operator", now: 7 };
const run = { id: "r1", objective: "Read CSV" } as const;
const change = (number: number, criterion: number | null = null): RunChange => ({
  runId: "r1",
  number,
  criterion,
  words: `words ${number}`,
  wordsBefore: "before",
  changedBy: "operator",
  changedAt: 1,
});

describe("the objective", () => {
  test("keeps its older words, and gets the newer ones behind them", () => {
    const first = changeObjective(run, [], "  JSON   too ", by);
    if (!first.ok || first.value === undefined) throw new Error("it was not changed");
    expect(first.value.objective).toBe("Read CSV [change 1: JSON too]");
    expect(first.value.change).toEqual({
      runId: "r1",
      number: 1,
      criterion: null,
      words: "JSON too",
      wordsBefore: "Read CSV",
      changedBy: "operator",
      changedAt: 7,
    });
    const before = [first.value.change, change(2, 1)];
    const second = changeObjective({ id: "r1", objective: first.value.objective }, before, "no CSV", by);
    expect(second).toMatchObject({
      value: { objective: "Read CSV [change 1: JSON too] [change 2: no CSV]", change: { number: 3 } },
    });
  });

  test("is not changed twice by the same command, though criteria were amended in between", () => {
    const said = { ...change(1), words: "JSON too" };
    expect(changeObjective(run, [said, change(2, 1)], "JSON too", by)).toEqual({ ok: true, value: undefined });
    expect(changeObjective(run, [said, change(2)], "JSON too", by)).toMatchObject({ value: { change: { number: 3 } } });
  });

  test.each(["", "   ", "x".repeat(501)])("is not changed by %p", (words) => {
    expect(changeObjective(run, [], words, by)).toMatchObject({ ok: false, refusal: { field: "words" } });
  });
});

describe("a criterion", () => {
  const coordinator = { by: "coordinator", now: 7, isOperator: false };
  const proved = aCriterion(1, { proofKind: "file", proofPath: "a.ts", provedBy: "coordinator", provedAt: 2 });

  test("gets other words after a change of the objective, and loses the evidence for the older ones", () => {
    const amended = amendCriterion(proved, [change(1)], "reads JSON", coordinator);
    expect(amended).toMatchObject({
      value: {
        criterion: { number: 1, text: "reads JSON", proofKind: null, proofPath: null, provedAt: null },
        change: { number: 2, criterion: 1, words: "reads JSON", wordsBefore: "criterion 1" },
      },
    });
  });

  test("is amended by its coordinator once for each change of the objective, by the operator at any time", () => {
    const amend = (before: readonly RunChange[], who = coordinator) =>
      amendCriterion(proved, before, "other words", who).ok;
    expect(amend([])).toBe(false);
    expect(amend([change(1)])).toBe(true);
    expect(amend([change(1), change(2, 1)])).toBe(false);
    expect(amend([change(1), change(2, 5)])).toBe(true);
    expect(amend([change(1), { ...change(2, 1), changedBy: "coordinator" }, change(3)])).toBe(true);
    expect(amend([], { ...coordinator, isOperator: true })).toBe(true);
  });

  test("that has the operator's words is amended by the operator alone", () => {
    for (const addedBy of ["operator", "system"]) {
      expect(amendCriterion({ ...proved, addedBy }, [change(1)], "less", coordinator)).toMatchObject({
        refusal: { problem: expect.stringContaining("the operator's own words") },
      });
    }
    expect(amendCriterion(proved, [change(1, 1), change(2)], "less", coordinator).ok).toBe(false);
  });

  test("that is waived stays as it is", () => {
    const waived = { ...proved, waivedAt: 3, waivedBy: "operator", waiveReason: "later" };
    expect(amendCriterion(waived, [change(1)], "other words", coordinator)).toMatchObject({ ok: false });
  });
});

test("words that only take something back are told from wishes", () => {
  for (const words of [
    "no xml after all",
    "No XML any more.",
    "drop the plugin system after all",
    "No stats command after all; the rest stays.",
    "no xml after all, everything else stays as it is",
    "never mind the changelog",
    "forget about windows",
    "we don\u2019t need the cache",
    "the web page is not needed any more",
    "xml and yaml are no longer wanted",
  ])
    expect([words, isWithdrawal(words)]).toEqual([words, true]);
  for (const words of [
    "no trailing spaces in the output",
    "skip empty lines",
    "json instead of xml",
    "no xml after all, but yaml",
    "no xml after all; the rest stays in yaml",
    "leave out comments",
    "remove the file when it is not needed",
    "no longer print a banner",
    "",
  ])
    expect([words, isWithdrawal(words)]).toEqual([words, false]);
});
