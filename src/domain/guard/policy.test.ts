import { expect, test } from "bun:test";
import { decide, type GuardRequest } from "./policy.ts";

const builder = { capability: "builder", attended: false, tool: "Bash", input: {} } as const satisfies GuardRequest;
const bash = (command: string): GuardRequest => ({ ...builder, input: { command } });

test.each([
  "git push",
  "git push --force origin main",
  "git -C . push",
  "git -c a=b push",
  "command git push",
  "g=git; $g push",
  'git "push"',
  "git 'push'",
  'git pu""sh',
  "git \\\n push",
  'echo "x" && git push',
  'bash -c "git push"',
  "git --no-pager push",
  "/usr/bin/git push",
  "git send-pack origin main",
  "(git push)",
  "echo $(git push)",
  "if true; then git push; fi",
  "env A=b git push",
  "timeout 5s git push",
  "ls | xargs -n 1 git push",
  "eval 'git push'",
  "git status\ngit push",
  "sh -c \"bash -c 'git push'\"",
  "git $verb",
  "cat <<EOF\nx\nEOF\ngit push",
  "/usr/bin/env git push",
  "git >/tmp/x push",
  "git 2>/dev/null push",
  "git push >&2",
  ">log git push",
  "git &>/dev/null push",
  "git <in push",
  "bash <<< 'git push'",
  "cat <(git push)",
  "timeout -s KILL 5 git push",
  "sudo -u me git push",
  "env -u A -i B=c git push",
  "time -p git push",
  "bash -c -- 'git push'",
  "bash <<EOF\ngit push\nEOF",
  "echo 'git push' | sh",
  "coproc git push",
])("an agent may not run %j", (command) => {
  expect(decide(bash(command))).toMatchObject({ decision: "deny", rule: "git-push" });
});

test.each([
  'git log --grep="git push"',
  'echo "how to git push"',
  "git commit -m 'git push later'",
  "git stash push",
  "cat <<EOF\ngit push\nEOF",
  "ls # git push",
  "git -C push status",
  "npm run push",
  "bash build.sh",
  "bash --version",
  "timeout 5 npm test",
  "env -i npm run push",
  "echo push > git",
  "git log > push",
  "git diff 2>&1",
  "",
])("an agent may run %j", (command) => {
  expect(decide(bash(command))).toEqual({ decision: "allow" });
});

test("agents delegate by ov and ask by mail", () => {
  expect(decide({ ...builder, tool: "Agent" })).toMatchObject({ rule: "team-tools" });
  expect(decide({ ...builder, tool: "TaskCreate" })).toMatchObject({ rule: "team-tools" });
  expect(decide({ ...builder, tool: "AskUserQuestion" })).toMatchObject({ rule: "person-tools" });
  expect(decide({ ...builder, tool: "AskUserQuestion", attended: true })).toEqual({ decision: "allow" });
  expect(decide({ ...builder, tool: "Read" })).toEqual({ decision: "allow" });
});

test("what cannot be read is denied to an agent, and nothing is denied to a person", () => {
  expect(decide({ ...builder, tool: null })).toMatchObject({ decision: "deny" });
  expect(decide({ ...bash("git push"), capability: null })).toEqual({ decision: "allow" });
});
