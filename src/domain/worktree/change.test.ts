import { describe, expect, test } from "bun:test";
import { offBranchFix } from "./change.ts";

const [one, two] = ["1111111111111111", "2222222222222222"];
const place = { agentName: "b1", branch: "overstory/b1/T1", path: "/w/b1", isClone: false };

describe("commits that the branch of their agent lacks", () => {
  test("are merged into the branch where it is there", () => {
    expect(offBranchFix({ on: null, tips: [one], branchTip: two }, place, null)).toBe(
      "put them on its branch: git -C /w/b1 checkout overstory/b1/T1 && git -C /w/b1 merge 111111111111",
    );
    expect(offBranchFix({ on: "other", tips: [one], branchTip: two }, place, null)).toEndWith("merge other");
  });

  test("become the branch again where that is gone: it cannot be checked out", () => {
    expect(offBranchFix({ on: null, tips: [one], branchTip: null }, place, null)).toBe(
      "its branch is gone; make it again: git -C /w/b1 branch overstory/b1/T1 111111111111",
    );
    expect(offBranchFix({ on: "other", tips: [one], branchTip: null }, place, null)).toEndWith(
      "git -C /w/b1 branch overstory/b1/T1 other",
    );
    expect(offBranchFix({ on: null, tips: [one, two], branchTip: null }, place, null)).toEndWith(
      "branch overstory/b1/T1 111111111111 && git -C /w/b1 checkout overstory/b1/T1 && git -C /w/b1 merge 222222222222",
    );
  });

  test("are put on the branch by the agent itself in a clone", () => {
    const clone = { ...place, isClone: true };
    expect(offBranchFix({ on: null, tips: [one], branchTip: two }, clone, null)).toContain(
      "'git checkout overstory/b1/T1, then git merge 111111111111, then finish'",
    );
    expect(offBranchFix({ on: null, tips: [one], branchTip: null }, clone, null)).toContain(
      "'git branch overstory/b1/T1 111111111111, then git checkout overstory/b1/T1, then finish'",
    );
  });
});
