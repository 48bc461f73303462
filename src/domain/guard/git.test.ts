import { describe, expect, test } from "bun:test";
import { policyFor, runs } from "../../../testkit/guard.ts";
import { commandCases } from "../../../testkit/guard-cases.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import { roleList, roles } from "../role/roles.ts";

function denialOf(role: RoleSpec, command: string): string {
  const verdict = runs(policyFor(role), command);
  return verdict.decision === "allow" ? "allowed" : `${verdict.rule}: ${verdict.reason}`;
}

/** What would move or leave a branch, whoever does it. */
const leaving = [
  "git checkout -m main",
  "git checkout --merge main",
  "git checkout --conflict=diff3 main",
  "git checkout --conflict merge main",
  "git checkout -m main --",
  "git checkout -m main a.ts",
  "git checkout --ours main a.ts",
  "git checkout --theirs main -- a.ts",
  "git switch --merge main",
  "git switch --creat=other overstory/bob/t-1",
  "git branch --sort overstory/bob/x other",
  "git branch -f overstory/bob/x main",
  "git rebase HEAD overstory/integration/run-1",
  "git rebase --onto main main~3 other",
  "git rebase --root other",
  "git rebase --update-refs main",
  "git rebase -x 'git push' main",
  "git bisect start && git bisect reset main",
  "git bisect start HEAD HEAD~5",
  "git bisect good",
  "git bisect skip v1",
  "git bisect replay log.txt",
  "git bisect next",
  "git bisect run ./check.sh",
  "git stash branch x",
  "git fetch --refmap=+refs/heads/*:refs/heads/* origin main",
  "git fetch --refm '+refs/heads/*:refs/heads/*' origin main",
  "echo main:main | git fetch --stdin origin",
  "git fetch --set-upstream origin main",
  "git fetch --depth=1 origin",
  "git fetch --unshallow",
  "git pull",
  "git pull --rebase origin main",
  "git lfs push origin main",
  "git lfs pre-push origin",
  "git lfs migrate import --everything",
  "git lfs",
  "git-push origin main",
  "/usr/lib/git-core/git-push origin main",
  "git-lfs push origin main",
  "git symbolic-ref HEAD refs/heads/main",
  "git symbolic-ref -d HEAD",
  "git notes --ref list add -m x",
  "git sparse-checkout set src",
  "git -c rebase.updateRefs=true rebase main",
  "git -c sequence.editor='sed -i 1d' rebase -i main",
  "git -c core.editor=./x commit",
  "git -c submodule.a.update='!touch x' submodule update",
];

describe("branches of others", () => {
  const writers = roleList.filter(({ access }) => access.files === "scoped-write");
  test.each(leaving.map((command) => [command]))("nobody who writes may run %j", (command) => {
    expect(writers.map(({ capability }) => capability).sort()).toEqual(["builder", "merger"]);
    for (const role of writers) expect(runs(policyFor(role), command)).toMatchObject({ decision: "deny" });
  });

  commandCases("builder", {
    may: [
      "git checkout overstory/bob/t-1",
      "git checkout -b overstory/bob/next main",
      "git switch -q -c overstory/bob/next",
      "git branch --no-track overstory/bob/next",
      "git checkout --ours src/a.ts",
      "git checkout --theirs -- src/a.ts src/b.ts",
      "git checkout --conflict=diff3 -- src/a.ts",
      "git bisect log && git bisect reset",
      "git fetch && git fetch --prune origin main",
      "git lfs track '*.png' && git lfs ls-files",
      "git symbolic-ref --short HEAD",
      "git symbolic-ref refs/remotes/origin/HEAD",
      "git -c core.editor=true cherry-pick --continue",
      "git -c core.pager=cat log",
      "git -c user.name=bob -c commit.gpgsign=false commit -m x",
      "git merge-file -p a b c",
      "git reset --soft HEAD~1",
      "git reset src/a.ts",
      "git add src/{a,b}.ts",
    ],
    mayNot: [
      "git reset {--hard,HEAD}",
      "git reset {--hard,}",
      "git checkout overstory/bob/{a,b}",
      "git merge-file ../other/a b c",
      "git -c core.pager=./x log",
    ],
  });
});

describe("joining", () => {
  const merges = ["git merge main", "git merge --ff-only main", "git merge"];
  const rewrites = ["git rebase main", "git rebase -i HEAD~3", "git pull"];

  commandCases("merger", {
    may: [
      "git merge --no-ff overstory/b1/t1",
      "git merge --abort",
      "git rebase main",
      "git rebase --onto main overstory/bob/base",
      "GIT_EDITOR=true git rebase --continue",
      "git checkout --theirs a && git add a",
    ],
    mayNot: ["git pull", "git rebase main other", "git push", "git reset --hard", "git branch -f main HEAD"],
  });
  commandCases("builder", {
    may: [
      ...merges,
      "git merge overstory/integration/run-1",
      "git merge --abort",
      "git rebase --abort",
      "GIT_EDITOR=true git rebase --continue",
      "git merge-base main HEAD",
      "git merge-tree main HEAD",
      "git cherry-pick abc123",
      "git log main..HEAD --merges",
    ],
    mayNot: [...rewrites, "git rebase --continue -x 'git push'"],
  });

  test("whoever may not join is told who does, and whom to ask", () => {
    for (const role of [roles.lead, roles.coordinator]) {
      for (const command of [...merges, ...rewrites]) {
        expect(denialOf(role, command)).toMatch(/^git-merge: .*merge queue.*ask your parent/);
      }
    }
    for (const command of rewrites) expect(denialOf(roles.builder, command)).toMatch(/^git-merge: .*merge queue/);
  });
});

describe("taking back and putting aside", () => {
  const stashing = [
    "git stash",
    "git stash push -m x",
    "git stash pop",
    "git stash apply",
    "git stash drop",
    "git stash -u",
  ];

  test("nobody uses the stash that all worktrees share, and the denial says what to do instead", () => {
    for (const role of roleList) {
      for (const command of stashing) {
        expect(denialOf(role, command)).toMatch(/^git-shared: .*one stash.*commit.*git diff > \/tmp/);
      }
      expect(runs(policyFor(role), "git stash list && git stash show -p")).toEqual({ decision: "allow" });
    }
  });

  test("what throws work away is denied with the ways that are left, and those are open", () => {
    for (const command of ["git restore a.ts", "git checkout -- a.ts", "git checkout .", "git reset --hard"]) {
      expect(denialOf(roles.builder, command)).toMatch(
        /^git-discard: .*git show HEAD:<file> > <file> or git diff -- <file> \| git apply -R/,
      );
    }
  });
});

describe("looking", () => {
  commandCases("scout", {
    may: [
      "git stash list",
      "git reflog -5 HEAD",
      "git remote -v show origin",
      "git submodule --quiet status",
      "git -c core.fsmonitor=false status",
      "git -c core.pager=cat diff",
      "git notes list",
    ],
    mayNot: [
      "git stash show -p --output=x",
      "git reflog --output=x",
      "git reflog expire --all",
      "git notes --ref list add -m x",
      "git notes --ref show remove",
      "git -c pager.log='touch x' log",
      "git -c core.pager='touch x' log",
      "git symbolic-ref HEAD refs/heads/x",
    ],
  });
});

test("a checkout of one word is told how a file is taken back, because it may be one", () => {
  expect(denialOf(roles.builder, "git checkout src/registry.js")).toContain("git show HEAD:<file> > <file>");
  expect(denialOf(roles.builder, "git switch main")).not.toContain("git show");
});
