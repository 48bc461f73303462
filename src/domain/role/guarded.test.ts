import { expect, test } from "bun:test";
import { type Attempt, attempt, policyFor } from "../../../testkit/guard.ts";
import { roleList } from "./roles.ts";

const edit: Attempt = { kind: "edit", tool: "Edit", input: { file_path: "/w/tree/src/a.ts" } };
const shell = (command: string): Attempt => ({ kind: "execute", tool: "Bash", input: { command } });

/** What an agent does that makes each of these mistakes. */
const mistakes: Readonly<Record<string, readonly Attempt[]>> = {
  READ_ONLY_VIOLATION: [
    edit,
    shell("echo x > a.ts"),
    shell("git commit -am x"),
    shell("rm a.ts"),
    shell("git config a b"),
    shell("git stash"),
    shell(`awk -F , 'BEGIN{system("npm ci")}'`),
    shell(`awk -F : '{print > "out"}' a`),
    shell("sed -l 5 'w out' a"),
    shell("sed -n 'b;w out' a"),
    shell("mapfile -C 'touch x' < a"),
    shell("read PATH <<< ."),
    shell("printf -v PATH ."),
  ],
  LEAD_DOES_WORK: [edit, shell("sed -i s/a/b/ a.ts"), shell("git commit -am x")],
  CODE_MODIFICATION: [edit, shell("tee a.ts"), shell("git merge x")],
  DIRECT_MERGE: [shell("git merge overstory/b1/t1"), shell("git rebase main"), shell("git pull")],
  PATH_BOUNDARY_VIOLATION: [{ kind: "edit", input: { file_path: "/w/README.md" } }, shell("rm -rf ../other")],
  CANONICAL_BRANCH_WRITE: [
    shell("git push"),
    shell("git checkout main"),
    shell("git -C /w commit -am x"),
    shell("git update-ref refs/heads/main HEAD"),
    shell("git rebase HEAD overstory/integration/run-1"),
    shell("git rebase --root overstory/integration/run-1"),
    shell("git checkout -m main"),
    shell("git checkout --merge main"),
    shell("git checkout --conflict=diff3 main"),
    shell("git bisect start && git bisect reset main"),
    shell("git stash branch x"),
    shell("git fetch --refmap=+refs/heads/*:refs/heads/* origin main"),
    shell("git lfs push origin main"),
    shell("git-push origin main"),
    shell("git pull"),
  ],
  UNSEEN_HELPERS: [
    { kind: "delegate", tool: "Agent" },
    { kind: "ask", tool: "AskUserQuestion" },
  ],
};

const guarded = roleList.flatMap((role) =>
  role.failures.filter(({ enforcedBy }) => enforcedBy === "guard").map(({ name }) => ({ role, name })),
);

test.each(guarded.map(({ role, name }) => [name, role.capability, role] as const))(
  "%s of a %s is denied, as its prompt says",
  (name, _, role) => {
    const tries = mistakes[name] ?? [];
    expect(tries.length).toBeGreaterThan(0);
    for (const each of tries) expect(attempt(policyFor(role), each)).toMatchObject({ decision: "deny" });
  },
);

test("every role has mistakes that are denied, and no example here is about a mistake that is not", () => {
  expect([...new Set(guarded.map(({ name }) => name))].sort()).toEqual(Object.keys(mistakes).sort());
  expect(new Set(guarded.map(({ role }) => role)).size).toBe(roleList.length);
});
