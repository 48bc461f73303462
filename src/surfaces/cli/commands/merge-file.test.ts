import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../../../..");
const dir = mkdtempSync(join(tmpdir(), "ov-merge-file-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function ov(...argv: string[]) {
  const { status, stdout, stderr } = spawnSync(
    join(root, "scripts/bun"),
    [join(root, "src/compose/main.ts"), "merge-file", ...argv],
    { cwd: dir, encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

const write = (texts: Record<string, string>): void => {
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(dir, name), text);
};

test("outside any project, three files become one on stdout and nothing is written", () => {
  write({ b: '{\n  "a": 1\n}\n', o: '{\n  "a": 1,\n  "b": 2\n}\n', t: '{\n  "a": 1,\n  "c": 3\n}\n' });
  const content = '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n';
  expect(ov("b", "o", "t", "--path", "x/a.json")).toEqual({ status: 0, stdout: content, stderr: "" });
  const json = ov("b", "o", "t", "--path", "x/a.json", "--json");
  expect(JSON.parse(json.stdout)).toEqual({
    success: true,
    command: "merge-file",
    result: "merged",
    content,
    strategy: "structured",
  });
  expect(readdirSync(dir).sort()).toEqual(["b", "o", "t"]);
});

test("a refusal has its reason on stderr, or in the document, and exit code 4", () => {
  write({ b: "1\n", o: "2\n", t: "3\n" });
  expect(ov("b", "o", "t", "--path", "a.txt")).toEqual({
    status: 4,
    stdout: "",
    stderr: "refused: both sides changed the same lines\n",
  });
  const json = ov("b", "o", "t", "--path", "a.txt", "--json");
  expect(json.status).toBe(4);
  expect(JSON.parse(json.stdout)).toEqual({
    success: true,
    command: "merge-file",
    result: "refused",
    reason: "both sides changed the same lines",
  });
});

test("a file that is not there is an error of usage", () => {
  write({ b: "1\n", o: "2\n" });
  const answer = ov("b", "o", "nowhere", "--path", "a.txt");
  expect(answer.status).toBe(2);
  expect(answer.stderr).toContain("theirs does not exist");
});
