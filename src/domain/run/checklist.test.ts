import { describe, expect, test } from "bun:test";
import {
  addCriteria,
  type Criterion,
  checklistOf,
  criterionStatus,
  evidenceOf,
  evidenceWords,
  loseProof,
  parseEvidence,
  proofWords,
  proveCriterion,
  seeProofAgain,
  unserved,
  waiveCriterion,
} from "./checklist.ts";

const by = { by: "coordinator", now: 5 };

function added(texts: readonly string[], stored: readonly Criterion[] = []): readonly Criterion[] {
  const answer = addCriteria("run-1", stored, texts, by);
  if (!answer.ok) throw new Error(answer.refusal.problem);
  return answer.value;
}

const run = { id: "run-1", objective: "Do it all", checklist: true, startedAt: 1 } as const;

test("numbers are given once and go on behind those that are there", () => {
  const first = added(["one", "two  words"]);
  expect(first.map(({ number, text }) => [number, text])).toEqual([
    [1, "one"],
    [2, "two words"],
  ]);
  expect(added(["three"], first).map(({ number }) => number)).toEqual([3]);
});

test.each([
  ["no text", []],
  ["a blank text", ["a", "  "]],
  ["the same text twice", ["a", "a"]],
  ["a text that is there", ["old"]],
  ["a text that is too long", ["x".repeat(501)]],
  ["more than a person reads", Array.from({ length: 50 }, (_, n) => `criterion ${n}`)],
])("%s is refused", (_, texts) => {
  expect(addCriteria("run-1", added(["old"]), texts, by)).toMatchObject({ ok: false, refusal: { field: "text" } });
});

test("an objective that is not split is criterion 1; runs without one, and older ones, have no checklist", () => {
  expect(checklistOf(run, [])).toMatchObject([{ number: 1, text: "Do it all", addedBy: "system" }]);
  expect(checklistOf(run, added(["a part"]))).toMatchObject([{ number: 1, text: "a part" }]);
  expect(checklistOf({ ...run, checklist: false }, [])).toEqual([]);
  expect(checklistOf({ ...run, objective: null }, [])).toEqual([]);
});

describe("evidence", () => {
  test.each([
    [{ file: "./docs/a.md" }, { kind: "file", path: "docs/a.md" }, "file docs/a.md"],
    [{ test: "a.test.ts:x: y" }, { kind: "test", path: "a.test.ts", test: "x: y" }, 'test a.test.ts "x: y"'],
    [{ commit: "ABCDEF1" }, { kind: "commit", commit: "abcdef1" }, "commit abcdef1"],
  ] as const)("%j is read", (typed, evidence, words) => {
    const parsed = parseEvidence(typed);
    expect(parsed).toEqual({ ok: true, value: evidence });
    expect(evidenceWords(evidence)).toBe(words);
    const [criterion] = added(["one"]);
    if (criterion === undefined) throw new Error("nothing was added");
    const proved = proveCriterion(criterion, evidence, { ...by, landed: "tip", unchanged: false });
    expect(evidenceOf(proved)).toEqual(evidence);
    expect(criterionStatus(proved)).toBe("proved");
  });

  test.each([
    [{}, "evidence"],
    [{ file: " " }, "evidence"],
    [{ file: "a", commit: "abcdef1" }, "evidence"],
    [{ file: "../a" }, "file"],
    [{ file: "/etc/passwd" }, "file"],
    [{ test: ":name" }, "test"],
    [{ test: "a.test.ts" }, "test"],
    [{ test: "a.test.ts: " }, "test"],
    [{ commit: "main" }, "commit"],
  ])("%j is refused", (typed, field) => {
    expect(parseEvidence(typed)).toMatchObject({ ok: false, refusal: { field } });
  });
});

test("a criterion is served by a task, proved or waived, or it is said that it is none of these", () => {
  const criteria = added(["one", "two", "three", "four"]);
  const [, , three, four] = criteria;
  if (three === undefined || four === undefined) throw new Error("too few");
  const proved = proveCriterion(three, { kind: "file", path: "a" }, { ...by, landed: "tip", unchanged: false });
  const waived = waiveCriterion(four, { by: "operator", now: 6, reason: "later" });
  expect(criterionStatus(waived)).toBe("waived");
  const tasks = [{ taskId: "T1", runId: "run-1", number: 1 }];
  const now = [...criteria.slice(0, 2), proved, waived];
  expect(unserved(now, tasks).map(({ number }) => number)).toEqual([2]);
});

test("evidence says that it is older than the run, and one that is lost makes the criterion open again", () => {
  const [criterion] = added(["one"]);
  if (criterion === undefined) throw new Error("nothing was added");
  expect(proofWords(criterion)).toBeUndefined();
  const proved = proveCriterion(criterion, { kind: "file", path: "a" }, { ...by, landed: "tip", unchanged: true });
  expect(proofWords(proved)).toBe("file a, unchanged since before this run");
  expect(proofWords(seeProofAgain(proved, { landed: "next", unchanged: false }))).toBe("file a");
  const lost = loseProof(proved, "does not exist on main any more");
  expect([criterionStatus(lost), proofWords(lost)]).toEqual(["open", "file a does not exist on main any more"]);
  const again = proveCriterion(lost, { kind: "file", path: "b" }, { ...by, landed: "next", unchanged: false });
  expect([criterionStatus(again), proofWords(again)]).toEqual(["proved", "file b"]);
});
