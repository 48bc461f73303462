import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { mergeLines } from "./merge-lines.ts";

const dir = mkdtempSync(join(tmpdir(), "line-merge-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("edits far apart are both kept", () => {
  expect(mergeLines("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n")).toEqual({ kind: "merged", text: "A\nb\nC\n" });
});

test("touching edits conflict", () => {
  expect(mergeLines("a\nb\n", "A\nb\n", "a\nB\n")).toEqual({ kind: "conflict" });
  expect(mergeLines("a\nb\n", "a\nx\nb\n", "a\ny\nb\n")).toEqual({ kind: "conflict" });
});

test("the same edit on both sides counts once", () => {
  expect(mergeLines("a\nb\nc\nd\n", "a\nx\nc\nd\n", "a\nx\nc\nd\ne\n")).toEqual({
    kind: "merged",
    text: "a\nx\nc\nd\ne\n",
  });
});

test("an insertion that could be read in two places is kept clear of the other side's edit", () => {
  expect(mergeLines("a\nb\na\n", "a\nb\na\nb\na\n", "A\nb\na\n")).toEqual({ kind: "conflict" });
});

test("an edit that both ends read alike but git could read otherwise is kept clear of the other side's edit", () => {
  const [base, ours, theirs] = ["aaabff", "aafbf", "aaabf"].map((text) => text.replaceAll(/./g, "$&\n"));
  expect(mergeLines(base ?? "", ours ?? "", theirs ?? "")).toEqual({ kind: "conflict" });
});

test("a missing final newline is a change of the last line", () => {
  expect(mergeLines("a\nb\nc", "A\nb\nc", "a\nb\nc\n")).toEqual({ kind: "merged", text: "A\nb\nc\n" });
  expect(mergeLines("a", "a\n", "b")).toEqual({ kind: "conflict" });
});

function gitMerges(base: string, ours: string, theirs: string): string | undefined {
  const paths = [ours, base, theirs].map((text, index) => {
    const path = join(dir, String(index));
    writeFileSync(path, text);
    return path;
  });
  const done = Bun.spawnSync(["git", "merge-file", "-p", "-q", ...paths]);
  return done.exitCode === 0 ? done.stdout.toString() : undefined;
}

test("whatever merges here, git merges to the same text", () => {
  const word = fc.constantFrom("a", "b", "c", "d", "e", "f");
  const text = fc.array(word, { maxLength: 12 });
  const edit = fc.array(fc.record({ at: fc.nat(11), remove: fc.nat(2), add: fc.array(word, { maxLength: 2 }) }), {
    maxLength: 2,
  });
  const apply = (lines: string[], edits: { at: number; remove: number; add: string[] }[]) => {
    const out = [...lines];
    for (const { at, remove, add } of edits) out.splice(at, remove, ...add);
    return out;
  };
  const joined = (lines: string[]) => lines.map((line) => `${line}\n`).join("");
  let merged = 0;
  fc.assert(
    fc.property(text, edit, edit, (base, left, right) => {
      const [b, o, t] = [joined(base), joined(apply(base, left)), joined(apply(base, right))];
      const ours = mergeLines(b, o, t);
      if (ours.kind === "conflict") return;
      merged++;
      expect(ours.text).toBe(gitMerges(b, o, t) ?? "git conflicts");
    }),
    { numRuns: Number(process.env.RUNS ?? 300) },
  );
  expect(merged).toBeGreaterThan(20);
}, 60_000);
