import { expect, test } from "bun:test";
import type { MergeStatus } from "../merge/entry.ts";
import { type ChildFacts, nothingDone, openChildren } from "./children.ts";

const branch = "overstory/b1/T1";

const child = (change: Partial<ChildFacts["agent"]> = {}, more: Partial<ChildFacts> = {}): ChildFacts => ({
  agent: { name: "b1", state: "completed", branch, ahead: 2, headCommit: "c2", releasedAt: null, ...change },
  finished: false,
  entries: [],
  abandoned: false,
  gaveReason: false,
  isJoined: false,
  ...more,
});

const entry = (status: MergeStatus, headCommit = "c2") => ({ status, headCommit });

const kinds = (...children: ChildFacts[]): string[] => openChildren(children).map(({ kind }) => kind);

test("a child at work, whatever of it was handed over, keeps its lead", () => {
  for (const state of ["booting", "in_turn", "between_turns", "stalled"] as const) {
    expect(kinds(child({ state }, { entries: [entry("merged")] }))).toEqual(["open-child"]);
  }
});

test("a child whose completion was accepted is not at work any more, but its branch is still to be handed over", () => {
  expect(kinds(child({ state: "in_turn" }, { finished: true, entries: [entry("pending")] }))).toEqual([]);
  expect(kinds(child({ state: "in_turn" }, { finished: true }))).toEqual(["unready-branch"]);
});

test("a branch that was not handed over is named", () => {
  expect(openChildren([child()])).toMatchObject([{ kind: "unready-branch", names: [branch] }]);
  expect(kinds(child({ state: "zombie" }))).toEqual(["unready-branch"]);
});

test("a branch in the queue, landed or given up is settled", () => {
  for (const status of ["pending", "merging", "gating", "blocked", "merged", "cancelled"] as const) {
    expect(kinds(child({}, { entries: [entry("failed", "c1"), entry(status)] }))).toEqual([]);
  }
  expect(kinds(child({ releasedAt: 1 }), child({}, { abandoned: true }))).toEqual([]);
  expect(kinds(child({ ahead: 0 }), child({ branch: null }))).toEqual([]);
  expect(kinds(child({}, { entries: [entry("pending", "")] }))).toEqual([]);
});

test("B3: a branch that a merger was given is settled when the branch of the merger was handed over", () => {
  const isJoined = true;
  expect(kinds(child({}, { isJoined }), child({}, { isJoined, entries: [entry("conflict")] }))).toEqual([]);
  expect(kinds(child({ state: "in_turn" }, { isJoined }))).toEqual(["open-child"]);
  expect(kinds(child({}, { isJoined, entries: [entry("merged", "c1")] }))).toEqual(["unready-branch"]);
});

test("a branch that could not be merged, or has newer commits than the queue, is not", () => {
  for (const status of ["conflict", "failed"] as const) {
    expect(kinds(child({}, { entries: [entry("merged", "c0"), entry(status)] }))).toEqual(["unready-branch"]);
  }
  expect(kinds(child({}, { entries: [entry("merged", "c1")] }))).toEqual(["unready-branch"]);
});

test("a child that was called back after its landing was undone has to hand its branch over again", () => {
  const [open] = openChildren([child({}, { entries: [entry("reverted")] })]);
  expect(open).toMatchObject({ kind: "unready-branch", message: expect.stringContaining("was taken out again") });
  expect(kinds(child({}, { entries: [entry("reverted"), entry("pending")] }))).toEqual([]);
});

test("a lead whose merger joins what could not be merged learns that the landing of that settles it", () => {
  const fixes = (...entries: ChildFacts["entries"]) => openChildren([child({}, { entries })]).map(({ fix }) => fix);
  expect(fixes(entry("conflict"))[0]).toContain("when a merger joins it, wait until that has landed");
  expect(fixes(entry("merged", "c1"))[0]).not.toContain("merger");
});

test("L1: a lead stands for a branch that was handed over, or for a child that was accepted without code", () => {
  const lacks = (...children: ChildFacts[]): number => nothingDone(children, null).length;
  for (const status of ["pending", "merging", "gating", "blocked", "merged"] as const) {
    expect(lacks(child({}, { entries: [entry(status)] }))).toBe(0);
  }
  expect(lacks(child({ ahead: 0 }, { finished: true, gaveReason: true }))).toBe(0);
  expect(lacks()).toBe(1);
  expect(lacks(child({ releasedAt: 1 }), child({}, { abandoned: true }))).toBe(1);
  for (const status of ["cancelled", "failed", "conflict", "reverted"] as const) {
    expect(lacks(child({ releasedAt: 1 }, { entries: [entry(status)] }))).toBe(1);
  }
  expect(nothingDone([], "the parser can do it already")).toEqual([]);
  expect(nothingDone([child({ releasedAt: 1 })], null)[0]).toMatchObject({
    kind: "nothing-done",
    message: expect.stringContaining("the work of b1 was given up"),
    fix: expect.stringContaining('ov done --no-code --reason "<why>"'),
  });
  expect(nothingDone([child({ ahead: 0 }, { finished: true }), child({ releasedAt: 1 })], null)[0]?.message).toBe(
    "nothing was handed over: the work of b1 was given up, and b1 finished without code and without a reason",
  );
});
