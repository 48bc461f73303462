import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { branchesIn, escalates, failsInARow, findingLines, parseDone, parseFindings } from "./request.ts";

describe("what is said when work is done", () => {
  test("blank texts are none, and the summary must not be blank", () => {
    expect(parseDone({ summary: " x ", learned: " ", branch: "", expansionReason: "why" })).toMatchObject({
      ok: true,
      value: { summary: "x", learned: null, branch: null, expansionReason: "why", noCode: false, findings: [] },
    });
    expect(parseDone({ summary: " \n" })).toMatchObject({ ok: false, refusal: { field: "summary" } });
  });

  test("a verdict is one of three", () => {
    expect(parseDone({ summary: "x", verdict: "fail" })).toMatchObject({ ok: true, value: { verdict: "fail" } });
    expect(parseDone({ summary: "x", verdict: "PASS" })).toMatchObject({ ok: false, refusal: { field: "verdict" } });
  });
});

describe("findings", () => {
  const cases: readonly (readonly [string, readonly (readonly [string, number | null, string])[]])[] = [
    ["src/a.ts:12: breaks", [["src/a.ts", 12, "breaks"]]],
    ["src/a.ts:12:5: breaks", [["src/a.ts", 12, "breaks"]]],
    ["- README.md: old", [["README.md", null, "old"]]],
    ["Note: it is slow", [["", null, "Note: it is slow"]]],
    [
      "one\n\n  two  ",
      [
        ["", null, "one"],
        ["", null, "two"],
      ],
    ],
    [
      '[{"file":"a","line":3,"text":"x"},{"text":"y"}]',
      [
        ["a", 3, "x"],
        ["", null, "y"],
      ],
    ],
    ["", []],
  ];
  for (const [typed, expected] of cases) {
    test(JSON.stringify(typed), () => {
      const read = parseFindings(typed);
      expect(read.ok && read.value.map(({ file, line, text }) => [file, line, text])).toEqual(
        expected.map((each) => [...each]),
      );
    });
  }

  test("what looks like JSON and is none is refused", () => {
    for (const typed of ["[oops", '[{"file":"a"}]', "[3]"]) {
      expect(parseFindings(typed)).toMatchObject({ ok: false, refusal: { field: "findings" } });
    }
  });

  test.each([
    "criterion 2: it is missing",
    "a.ts:1: error: criterion 2: it is missing",
    "- README.md: warning: Criterion 2: it is missing",
    '[{"file":"a.ts","text":"criterion 2: it is missing"}]',
  ])("%p is about criterion 2", (typed) => {
    expect(parseFindings(typed)).toMatchObject({ ok: true, value: [{ criterion: 2, text: "it is missing" }] });
  });

  test("findings survive being written as lines", () => {
    const name = fc.stringMatching(/^[a-z]{1,8}\/[a-z]{1,8}\.ts$/);
    const words = fc.stringMatching(/^[a-z][a-z ]{0,20}[a-z]$/);
    fc.assert(
      fc.property(
        fc.option(name),
        fc.option(fc.nat()),
        fc.constantFrom("warning", "error", "critical"),
        words,
        fc.option(words),
        (file, line, severity, text, expected) => {
          const finding = { file: file ?? "", line: file === null ? null : line, severity, text, expected };
          const lines = [finding, finding].flatMap(findingLines).join("\n");
          expect(parseFindings(lines)).toEqual({ ok: true, value: [finding, finding] });
        },
      ),
    );
  });
});

test("branches of agents are found in words, each once, without the sentence around them", () => {
  const texts = ["Review overstory/b1/T1, then overstory/b2/T-2.", null, '{"branch":"overstory/b1/T1"}', "main"];
  expect(branchesIn(texts)).toEqual(["overstory/b1/T1", "overstory/b2/T-2"]);
  expect(branchesIn(["overstory/integration/run-1 and xoverstory/a/b"])).toEqual([]);
});

test("a pass forgets the fails before it, and the third fail in a row goes to the agents above", () => {
  expect(failsInARow([])).toBe(0);
  expect(failsInARow(["fail", "needs_changes"])).toBe(2);
  expect(failsInARow(["fail", "fail", "pass", "fail"])).toBe(1);
  expect(escalates(["fail"], "fail")).toBe(false);
  expect(escalates(["fail", "needs_changes"], "fail")).toBe(true);
  expect(escalates(["fail", "fail"], "pass")).toBe(false);
  expect(escalates(["fail", "fail", "pass"], "fail")).toBe(false);
});
