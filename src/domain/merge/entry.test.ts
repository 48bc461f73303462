import { expect, test } from "bun:test";
import { type ApprovalFacts, approvalFor, strongerApproval, sufficientApprovals, waitingReason } from "./entry.ts";

const facts: ApprovalFacts = { asker: "parent", mode: "auto", gated: true, unverified: "wait" };

const table: readonly [Partial<ApprovalFacts>, string][] = [
  [{}, "parent"],
  [{ mode: "manual" }, "parent"],
  [{ mode: "approve" }, "waiting"],
  [{ gated: false }, "waiting"],
  [{ gated: false, unverified: "land" }, "parent"],
  [{ gated: false, unverified: "land", mode: "approve" }, "waiting"],
  [{ asker: "other" }, "waiting"],
  [{ asker: "other", gated: false, unverified: "land" }, "waiting"],
  [{ asker: "operator" }, "operator"],
  [{ asker: "operator", mode: "approve", gated: false }, "operator"],
];

for (const [change, expected] of table) {
  test(`asked for with ${JSON.stringify(change)} a branch is ${expected}`, () => {
    expect(String(approvalFor({ ...facts, ...change }))).toBe(expected);
  });
}

test("whoever must decide is told why", () => {
  expect(waitingReason({ ...facts, mode: "approve" })).toContain("merge.mode");
  expect(waitingReason({ ...facts, asker: "other" })).toContain("nobody above its agent");
  expect(waitingReason({ ...facts, gated: false })).toContain("no gate");
  expect(waitingReason(facts)).toContain("rejected before");
});

test("in manual mode only a person's word starts a merge", () => {
  expect(sufficientApprovals("manual")).toEqual(["operator"]);
  expect(sufficientApprovals("auto")).toEqual(["parent", "operator"]);
  expect(sufficientApprovals("approve")).toEqual(["parent", "operator"]);
});

test("asking again never takes an approval away", () => {
  expect(strongerApproval("operator", "waiting")).toBe("operator");
  expect(strongerApproval("waiting", "parent")).toBe("parent");
  expect(strongerApproval("parent", "operator")).toBe("operator");
});
