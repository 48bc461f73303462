import { describe, expect, test } from "bun:test";
import { doneRequest } from "../../../testkit/done-request.ts";
import type { Capability } from "../agent/capability.ts";
import type { ChildFacts } from "./children.ts";
import type { DoneRequest } from "./request.ts";
import { type CompletionFacts, missingFrom, type WorkSeen } from "./rules.ts";

const request = doneRequest({ summary: "done" });

const work: WorkSeen = {
  exists: true,
  head: "c1",
  ahead: 1,
  messages: ["work"],
  dirty: false,
  onBranch: true,
  halfWay: null,
  files: ["src/a.ts"],
};

interface Case {
  readonly capability?: Capability;
  readonly scope?: readonly string[];
  readonly shares?: readonly string[];
  readonly request?: Partial<DoneRequest>;
  readonly work?: Partial<WorkSeen> | null;
  readonly facts?: Partial<CompletionFacts>;
}

const kinds = (given: Case): string[] => missingFor(given).map(({ kind }) => kind);

function missingFor({ capability = "builder", scope = [], shares = [], request: words, work: seen, facts }: Case) {
  return missingFrom({
    agent: { capability, scope, shares, branch: "overstory/b1/T1" },
    request: { ...request, ...words },
    work: seen === null ? null : { ...work, ...seen },
    mailSubjects: [],
    explained: null,
    reviewed: false,
    reviewedBranch: "overstory/b1/T1",
    readsWholeRun: false,
    mayReview: [],
    children: [],
    openParts: [],
    unmerged: [],
    ...facts,
  });
}

const lead: Case = { capability: "lead", work: { ahead: 0, onBranch: false } };
const child = { name: "b1", state: "completed", branch: "overstory/b1/T1", ahead: 1, headCommit: "c1" } as const;
const delivered: ChildFacts = {
  agent: { ...child, releasedAt: null },
  finished: true,
  entries: [{ status: "pending", headCommit: "c1" }],
  abandoned: false,
  gaveReason: false,
  isJoined: false,
};

describe("work", () => {
  const cases: readonly (readonly [string, Case, readonly string[]])[] = [
    ["a clean branch with commits lacks nothing", {}, []],
    ["no worktree of its own lacks nothing", { work: null }, []],
    ["a worktree that is gone", { work: { exists: false } }, ["worktree"]],
    ["uncommitted changes", { work: { dirty: true } }, ["uncommitted"]],
    ["a detached head", { work: { onBranch: false } }, ["off-branch"]],
    ["a rebase left half-way", { work: { onBranch: false, dirty: true, halfWay: "rebase" } }, ["half-way"]],
    ["a merge left half-way", { work: { halfWay: "merge" } }, ["half-way"]],
    ["nothing done", { work: { ahead: 0, files: [] } }, ["no-commits"]],
    ["only uncommitted work", { work: { ahead: 0, dirty: true } }, ["uncommitted", "no-commits"]],
    ["nothing to do, and said so", { work: { ahead: 0, files: [] }, request: { noCode: true } }, []],
    ["nothing to do, but commits", { request: { noCode: true } }, ["code"]],
    ["files inside the scope", { scope: ["src/**"] }, []],
    ["files outside the scope", { scope: ["lib/**"] }, ["scope"]],
    ["outside, with a reason", { scope: ["lib/**"], request: { expansionReason: "needed" } }, []],
    ["outside, explained in a commit", { scope: ["lib/**"], work: { messages: ["x\n\nexpansion_reason: y"] } }, []],
    ["outside, explained by mail", { scope: ["lib/**"], facts: { mailSubjects: ["scope_expansion: y"] } }, []],
    [
      "outside, explained in an earlier report",
      { scope: ["lib/**"], facts: { explained: { reason: "y", files: ["src/a.ts"] } } },
      [],
    ],
    [
      "outside, and an earlier report explained other files",
      { scope: ["lib/**"], facts: { explained: { reason: "y", files: ["src/b.ts"] } } },
      ["scope"],
    ],
    ["a scout may leave notes lying about", { capability: "scout", work: { ahead: 0, dirty: true } }, []],
    ["a lead commits nothing", { ...lead, facts: { children: [delivered] } }, []],
    [
      "L1: a lead with a part that was never started",
      { ...lead, facts: { children: [delivered], openParts: [{ id: "T2", title: "the rest", waitsFor: [] }] } },
      ["open-part"],
    ],
    [
      "a lead with a part that waits",
      { ...lead, facts: { children: [delivered], openParts: [{ id: "T2", title: "the rest", waitsFor: ["T1"] }] } },
      ["open-part"],
    ],
    ["L1: a lead that nothing was built for", lead, ["nothing-done"]],
    ["L1: the same with --no-code alone", { ...lead, request: { noCode: true } }, ["nothing-done"]],
    ["L1: the same with a reason", { ...lead, request: { noCode: true, noCodeReason: "it is there already" } }, []],
    ["a merger must commit", { capability: "merger", work: { ahead: 0 } }, ["no-commits"]],
    [
      "a merger must have joined everything",
      { capability: "merger", facts: { unmerged: ["overstory/b2/T2", "overstory/b3/T3"] } },
      ["not-merged", "not-merged"],
    ],
  ];
  for (const [name, facts, expected] of cases) {
    test(name, () => expect(kinds(facts)).toEqual([...expected]));
  }

  test("C1: a part that waits for another is not to be started, but waited for", () => {
    const part = { id: "T2", title: "the rest", waitsFor: ["T1"] };
    const [missing] = missingFor({ ...lead, facts: { children: [delivered], openParts: [part] } });
    expect(missing?.message).toBe("task T2, a part of yours, waits for T1: the rest");
    expect(missing?.fix).toStartWith("end your turn: you are told when it can be started");
  });

  test("files that are shared with others are within the scope", () => {
    expect(kinds({ scope: ["lib/**"] })).toEqual(["scope"]);
    expect(kinds({ scope: ["lib/**"], shares: ["src/a.ts"] })).toEqual([]);
  });

  test("what is missing names the files", () => {
    const facts = {
      agent: { capability: "builder", scope: ["lib/**"], shares: [], branch: "b" },
      request,
      work,
    } as const;
    const rest = {
      mailSubjects: [],
      explained: null,
      reviewed: false,
      reviewedBranch: null,
      readsWholeRun: false,
      mayReview: [],
      children: [],
      openParts: [],
      unmerged: [],
    };
    expect(missingFrom({ ...facts, ...rest })).toMatchObject([{ kind: "scope", names: ["src/a.ts"] }]);
  });
});

describe("reviews", () => {
  const finding = { file: "a.ts", line: 1, severity: "error", text: "wrong" };
  const critical = { ...finding, severity: "critical" };
  const reading = { capability: "reviewer", work: { ahead: 0, files: [] } } as const;
  const cases: readonly (readonly [string, Case, readonly string[]])[] = [
    ["no verdict at all", {}, ["verdict"]],
    ["a verdict that was given by mail", { facts: { reviewed: true } }, []],
    ["a pass needs no findings", { request: { verdict: "pass" } }, []],
    ["a fail without findings", { request: { verdict: "fail" } }, ["findings"]],
    ["a fail with findings", { request: { verdict: "fail", findings: [finding] } }, []],
    ["changes wanted without saying which", { request: { verdict: "needs_changes" } }, ["findings"]],
    ["a pass with remarks", { request: { verdict: "pass", findings: [finding, { ...finding, criterion: 2 }] } }, []],
    ["a pass with something critical", { request: { verdict: "pass", findings: [critical] } }, ["findings"]],
    [
      "a pass of a whole run that names a criterion",
      { request: { verdict: "pass", findings: [{ ...finding, criterion: 2 }] }, facts: { readsWholeRun: true } },
      ["findings"],
    ],
    [
      "a pass of a whole run with remarks",
      {
        request: { verdict: "pass", findings: [{ ...finding, severity: "warning" }] },
        facts: { readsWholeRun: true },
      },
      [],
    ],
    [
      "a pass of a whole run with an error",
      { request: { verdict: "pass", findings: [finding] }, facts: { readsWholeRun: true } },
      ["findings"],
    ],
    ["a verdict on nobody knows what", { request: { verdict: "pass" }, facts: { reviewedBranch: null } }, ["branch"]],
    [
      "a verdict on a branch that it names and was given",
      { request: { verdict: "pass", branch: "b1" }, facts: { mayReview: ["overstory/b1/T1"] } },
      [],
    ],
    [
      "a verdict on a branch that was not given to it",
      { request: { verdict: "pass", branch: "b1" }, facts: { mayReview: ["overstory/b2/T2"] } },
      ["branch"],
    ],
  ];
  for (const [name, facts, expected] of cases) {
    test(name, () => expect(kinds({ ...reading, ...facts })).toEqual([...expected]));
  }
});

test("an operation of git that was left half-way is named with the commands that end it", () => {
  const fixes = (["merge", "cherry-pick", "bisect"] as const).map(
    (halfWay) => missingFor({ work: { halfWay } }).find(({ kind }) => kind === "half-way")?.fix,
  );
  expect(fixes).toEqual([
    expect.stringContaining("GIT_EDITOR=true git merge --continue; or give it up: git merge --abort"),
    expect.stringContaining("GIT_EDITOR=true git cherry-pick --continue; or give it up: git cherry-pick --abort"),
    "end it: git bisect reset",
  ]);
});
