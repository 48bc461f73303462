import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { policyFor } from "../../testkit/guard.ts";
import { decide } from "../domain/guard/decide.ts";
import { roles } from "../domain/role/roles.ts";
import { guardMachine } from "./tool-guard.ts";

test("the side of a conflict may be taken while a merge is half done, and at no other time", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ov-sides-")));
  const [main, linked] = [join(root, "main"), join(root, "linked")];
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  const git = (cwd: string, ...args: readonly string[]): number =>
    Bun.spawnSync(["git", ...author, ...args], { cwd, stdout: "ignore", stderr: "ignore" }).exitCode;
  const commit = (cwd: string, text: string): void => {
    writeFileSync(join(cwd, "a"), text);
    expect([git(cwd, "add", "a"), git(cwd, "commit", "-qm", text)]).toEqual([0, 0]);
  };
  git(root, "init", "-q", "-b", "main", main);
  commit(main, "one");
  git(main, "worktree", "add", "-q", "-b", "b1", linked);
  commit(main, "two");
  commit(linked, "three");
  const machine = await guardMachine({ HOME: root });
  const policy = policyFor(roles.builder, { root: main, worktree: linked, state: join(main, ".git", "ov-state") });
  const says = (command: string): string =>
    decide(
      { tool: "Bash", kind: "execute", command, paths: [], changes: false, cwd: linked, attended: false },
      policy,
      machine,
    ).decision;
  const sides = ["git checkout --ours .", "git checkout --theirs -- a", "git restore --ours a", "git checkout -m -- a"];
  expect(sides.map(says)).toEqual(sides.map(() => "deny"));
  expect(git(linked, "merge", "main")).not.toBe(0);
  expect(sides.map(says)).toEqual(sides.map(() => "allow"));
  rmSync(root, { recursive: true, force: true });
});

test("a cd into a directory that is there is taken to work; into a file, or into nothing, it may fail", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ov-places-")));
  mkdirSync(join(root, "build"));
  writeFileSync(join(root, "file"), "");
  const { places } = await guardMachine({ HOME: root });
  const isThere = ["build", "build/..", "file", "file/x", "nothing"].map((name) =>
    places.isDirectory(join(root, name)),
  );
  expect(isThere).toEqual([true, true, false, false, false]);
  rmSync(root, { recursive: true, force: true });
});

test("a reading role calls no git in a repository that a branch brought along as files", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ov-planted-")));
  const run = (...words: string[]): void =>
    void Bun.spawnSync(words, { cwd: root, stdout: "ignore", stderr: "ignore" });
  run("git", "init", "-q", "-b", "main", ".");
  run("git", "init", "-q", "--bare", "tree/src/evil");
  run("mkdir", "-p", "tree/src/plain/refs", "tree/src/evil/below");
  const machine = await guardMachine({ HOME: root });
  const worktree = join(root, "tree");
  const policy = policyFor(roles.reviewer, { root, worktree, state: join(root, ".git", "ov-state") });
  const says = (command: string): string =>
    decide(
      { tool: "Bash", kind: "execute", command, paths: [], changes: false, cwd: worktree, attended: false },
      policy,
      machine,
    ).decision;
  const denied = [
    "cd src/evil && git status",
    "cd src/evil/below && git log",
    "git -C src/evil log",
    "git -C src -C evil status",
    "git --git-dir=src/evil log",
    "cd src/plain/../evil && git diff",
  ];
  expect(denied.map(says)).toEqual(denied.map(() => "deny"));
  const allowed = ["git status", "cd src && git log", "git -C src/plain status", "ls src/evil", "git log -- src/evil"];
  expect(allowed.map(says)).toEqual(allowed.map(() => "allow"));
  rmSync(root, { recursive: true, force: true });
});
