import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardClasses } from "../testkit/guard-cases.ts";
import { type OvAnswer, ovBinary, runOv } from "../testkit/ov.ts";
import { makeProject } from "../testkit/project.ts";

interface Answer {
  readonly decision: string;
  readonly ruleId: string | null;
  readonly reason: string | null;
}

/** Runs it in an empty directory, where no project is. */
async function outside(words: readonly string[], stdin = ""): Promise<OvAnswer> {
  const cwd = mkdtempSync(join(tmpdir(), "ov-guard-"));
  const answer = await runOv(["guard", ...words], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: "/home/bob" },
    stdin,
  });
  rmSync(cwd, { recursive: true });
  return answer;
}

const answersIn = (out: string): readonly Answer[] =>
  out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

test("a command is judged outside of any project, for people and for programs", async () => {
  const denied = await outside(["test", "--", "git add -A && git push"]);
  expect(denied.code).toBe(5);
  expect(denied.out).toContain("deny (git-push)");
  expect(denied.out).toContain("  git push");
  const asked = await outside(["test", "--role", "scout", "--json", "--", "git log | head"]);
  expect(asked.code).toBe(0);
  expect(JSON.parse(asked.out)).toMatchObject({ success: true, role: "scout", decision: "allow", ruleId: null });
  expect((await outside(["test"])).code).toBe(2);
  expect((await outside(["test", "--role", "plumber", "--", "ls"])).code).toBe(2);
});

test("every line is answered in its order, and one that cannot be read is denied", async () => {
  const place = { cwd: "/w/tree", worktree: "/w/tree", task: "t-1", agent: "bob" };
  const cases = guardClasses().flatMap((each) => each.cases);
  const lines = cases.map(({ role, command }) => JSON.stringify({ role, command, ...place }));
  const bad = [
    "no json",
    "[]",
    "{}",
    JSON.stringify({ role: "plumber", command: "ls" }),
    JSON.stringify({ role: "builder", command: 5 }),
    JSON.stringify({ role: "builder", command: "ls", cwd: "relative" }),
    JSON.stringify({ role: "builder", command: "echo 'x" }),
    "\u0000",
  ];
  const { code, out } = await outside(["test", "--stdin", "--json"], [...lines, "", ...bad].join("\n"));
  expect(code).toBe(0);
  const answers = answersIn(out);
  expect(answers.length).toBe(lines.length + bad.length);
  const wrong = cases.filter(({ decision }, at) => answers[at]?.decision !== decision);
  expect(wrong.map(({ command }) => command)).toEqual([]);
  const unread = answers.slice(lines.length);
  expect(unread.map(({ decision }) => decision)).toEqual(bad.map(() => "deny"));
  expect(unread.map(({ ruleId }) => ruleId)).toEqual([
    ...bad.slice(0, -2).map(() => "unreadable"),
    "syntax",
    "unreadable",
  ]);
});

test("a line is answered as soon as it has come", async () => {
  const child = Bun.spawn([ovBinary(), "guard", "test", "--stdin", "--json"], { cwd: tmpdir(), stdin: "pipe" });
  const reader = child.stdout.getReader();
  for (const [command, decision] of [
    ["git status", "allow"],
    ["git push", "deny"],
  ]) {
    child.stdin.write(`${JSON.stringify({ role: "builder", command })}\n`);
    await child.stdin.flush();
    const { value } = await reader.read();
    expect(answersIn(new TextDecoder().decode(value))).toMatchObject([{ decision }]);
  }
  child.stdin.end();
  expect(await child.exited).toBe(0);
});

test("in a project its gates count", async () => {
  await using project = await makeProject({ gates: ["./check --all"] });
  const asks = (command: string) => project.ov("guard", "test", "--role", "scout", "--", command);
  expect((await asks("./check --all")).code).toBe(0);
  expect((await asks("./check-not --all")).code).toBe(5);
});

test("only a denial is explained", async () => {
  await using project = await makeProject();
  expect(await project.ov("guard", "explain", "99999")).toMatchObject({ code: 7 });
  expect(await project.ov("guard", "explain", "x")).toMatchObject({ code: 2 });
});
