import { expect, test } from "bun:test";
import { formerLanding, landingBranchFor, ownLanding } from "./landing-branch.ts";

const facts = { target: "main", runId: "run-1", targetCheckedOut: false, earlier: [] };

test("work lands on the target itself while nobody has it checked out", () => {
  expect(landingBranchFor(facts)).toBe("main");
});

test("a checked-out target gets a landing branch of its run, or of its own name without a run", () => {
  expect(landingBranchFor({ ...facts, targetCheckedOut: true })).toBe("overstory/integration/run-1");
  expect(landingBranchFor({ ...facts, target: "feature/x", runId: null, targetCheckedOut: true })).toBe(
    "overstory/integration/feature%2Fx",
  );
});

test("no two targets share a landing branch", () => {
  const targets = [
    "release/1.0",
    "release-1.0",
    "release%2F1.0",
    "release%252F1.0",
    "release",
    "a/b-c",
    "a-b/c",
    "a/b/c",
  ];
  expect(new Set(targets.map(ownLanding)).size).toBe(targets.length);
  // Nor does a new landing branch take the name of one that an earlier version made for another target.
  const former = targets.map(formerLanding).filter((branch) => !branch.includes("%"));
  const shared = targets.map(ownLanding).filter((branch) => former.includes(branch));
  expect(shared).toEqual([ownLanding("release")]);
  expect(ownLanding("main")).toBe(formerLanding("main"));
});

test("work of an earlier run that nobody took over is built upon, and forgotten once it was", () => {
  const branch = "overstory/integration/run-0";
  expect(landingBranchFor({ ...facts, earlier: [{ branch, promoted: false }] })).toBe(branch);
  expect(landingBranchFor({ ...facts, earlier: [{ branch, promoted: true }] })).toBe("main");
});
