import { expect, test } from "bun:test";
import { landingBranchFor } from "./landing-branch.ts";

const facts = { target: "main", runId: "run-1", targetCheckedOut: false, earlier: [] };

test("work lands on the target itself while nobody has it checked out", () => {
  expect(landingBranchFor(facts)).toBe("main");
});

test("a checked-out target gets a landing branch of its run, or of its own name without a run", () => {
  expect(landingBranchFor({ ...facts, targetCheckedOut: true })).toBe("overstory/integration/run-1");
  expect(landingBranchFor({ ...facts, target: "feature/x", runId: null, targetCheckedOut: true })).toBe(
    "overstory/integration/feature-x",
  );
});

test("work of an earlier run that nobody took over is built upon, and forgotten once it was", () => {
  const branch = "overstory/integration/run-0";
  expect(landingBranchFor({ ...facts, earlier: [{ branch, promoted: false }] })).toBe(branch);
  expect(landingBranchFor({ ...facts, earlier: [{ branch, promoted: true }] })).toBe("main");
});
