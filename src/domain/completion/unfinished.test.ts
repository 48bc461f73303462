import { expect, test } from "bun:test";
import { leftUnfinished, neverFinished, type UnfinishedFacts } from "./unfinished.ts";

const facts: UnfinishedFacts = {
  agent: {
    capability: "builder",
    generation: 1,
    branch: "overstory/b1/T1",
    ahead: 2,
    dirty: false,
    headCommit: "1234567890abcdef",
    worktreePath: "/w/b1",
    reminders: 2,
  },
  asked: [],
  commits: ["tests: cover dates\n\nbecause", "dates: parse them"],
  offBranch: null,
};
const { agent } = facts;

test("L7: an agent that never called finish is reported as just that, with its commits", () => {
  expect(neverFinished(facts)).toBe("it never called finish (ov done), and was reminded 2 times");
  expect(leftUnfinished(facts)).toBe(
    'It leaves 2 commits on overstory/b1/T1 (1234567890): "tests: cover dates", "dates: parse them"; no gate was run on them. Its worktree and branch are kept.',
  );
});

test("of a generation that was started again only its own time is told: an earlier one may have finished", () => {
  expect(neverFinished({ ...facts, agent: { ...agent, generation: 2 } })).toBe(
    "it never called finish (ov done) since it was started again, and was reminded 2 times",
  );
});

test("L7: an agent without commits is reported so, and where its uncommitted changes are", () => {
  const bare = { ...facts, commits: [], agent: { ...agent, ahead: 0, dirty: true } };
  expect(leftUnfinished(bare)).toStartWith(
    "There is no commit of it on overstory/b1/T1. Uncommitted changes are in its worktree (/w/b1).",
  );
  expect(leftUnfinished({ ...facts, agent: { ...agent, headCommit: null } })).toStartWith("It is not known");
});

test("of an agent that commits nothing it is said what it owed", () => {
  const left = (capability: "lead" | "reviewer") =>
    leftUnfinished({ ...facts, commits: [], agent: { ...agent, capability, ahead: 0 } });
  expect(left("lead")).toBe(
    "It was to commit nothing; its report, and the handing over of what its agents built, did not come. Its worktree and branch are kept.",
  );
  expect(left("reviewer")).toContain("its verdict did not come");
});

test("commits that its branch lacks are told apart from those on the branch", () => {
  const offBranch = {
    on: null,
    tips: ["1234567890abcdef"],
    messages: ["tests: cover dates\n\nbecause"],
    branchTip: "fedcba0987654321",
    branchMessages: ["dates: parse them"],
  };
  expect(leftUnfinished({ ...facts, offBranch })).toBe(
    'It leaves 1 commit on overstory/b1/T1 (fedcba0987): "dates: parse them"; no gate was run on them. 1 commit of it is not on that branch, so landing the branch would leave it out: "tests: cover dates" (at 1234567890ab, on no branch, in its worktree /w/b1). Its worktree and branch are kept.',
  );
  expect(leftUnfinished({ ...facts, offBranch: { ...offBranch, on: "other", branchMessages: [] } })).toStartWith(
    'There is no commit of it on overstory/b1/T1. 1 commit of it is not on that branch, so landing the branch would leave it out: "tests: cover dates" (on the branch other,',
  );
});

test("L7: a finish that was refused and never repeated is reported with what it lacked", () => {
  const problem = [{ kind: "gate", message: "the gate test exited 1", fix: "mend it" }] as const;
  const asked = [
    { seq: 2, status: "failed", problem, commitId: "1234567890abcdef" },
    { seq: 1, status: "failed", problem: [], commitId: null },
  ] as const;
  expect(neverFinished({ ...facts, asked })).toContain("refused (the gate test exited 1), it did not call it again");
});

test("what the gates said of the commits it leaves is told, and not that none was run", () => {
  const gate = [{ kind: "gate", message: "the gate test exited 1", fix: "mend it" }] as const;
  const scope = [{ kind: "scope", message: "x.ts is of b2", fix: "say why" }] as const;
  const left = (commitId: string | null, problem: typeof gate | typeof scope, generation = 1) =>
    leftUnfinished({
      ...facts,
      agent: { ...agent, generation },
      asked: [{ seq: 1, status: "failed", problem, commitId }],
    });
  expect(left("1234567890abcdef", gate)).toContain('"dates: parse them"; the gates do not pass on them. Its');
  expect(left("1234567890abcdef", scope)).toContain("; no finish was accepted with them. Its");
  expect(left("0000000000abcdef", gate)).toContain("; no gate was run on them. Its");
  expect(left(null, gate, 2)).toContain("; no gate was run on them since it was started again. Its");
});
