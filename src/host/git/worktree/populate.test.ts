import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { providedFiles } from "../work/uncommitted.ts";
import { includedIn } from "./populate.ts";

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function checkout(): string {
  const root = mkdtempSync(join(tmpdir(), "ov-include-"));
  dirs.push(root);
  for (const dir of ["conf/deep", ".git", ".overstory"]) mkdirSync(join(root, dir), { recursive: true });
  for (const file of [".env", "a.json", "conf/b.json", "conf/deep/c.json", ".git/x.json", ".overstory/x.json"]) {
    writeFileSync(join(root, file), "");
  }
  symlinkSync("a.json", join(root, "link.json"));
  symlinkSync("conf", join(root, "linked"));
  symlinkSync("nowhere", join(root, "dangling"));
  return root;
}

const cases: readonly (readonly [pattern: string, files: readonly string[]])[] = [
  [".env", [".env"]],
  ["*.json", ["a.json"]],
  ["**/*.json", ["a.json", "conf/b.json", "conf/deep/c.json"]],
  ["conf", ["conf/b.json", "conf/deep/c.json"]],
  ["conf/", ["conf/b.json", "conf/deep/c.json"]],
  ["conf/*.json", ["conf/b.json"]],
  ["conf/{b,z}.json", ["conf/b.json"]],
  ["{conf,other}/deep/[a-c].json", ["conf/deep/c.json"]],
  ["link.json", ["link.json"]],
  ["linked", []],
  ["linked/*.json", ["linked/b.json"]],
  ["dangling", []],
  ["absent/*.json", []],
  [".git/*.json", []],
  [".overstory/x.json", []],
  [".git", []],
];

test("worktree.include names a file, a directory or a pattern, and never what is git's or ours", () => {
  const root = checkout();
  for (const [pattern, files] of cases) {
    expect([pattern, [...includedIn(root, [pattern])].sort()]).toEqual([pattern, [...files]]);
  }
});

test("each file that was copied in is left out of what counts as the agent's work", () => {
  for (const [pattern, files] of cases) {
    const isLeftOut = providedFiles({ include: [pattern], deployed: [] });
    for (const file of files) expect([pattern, file, isLeftOut(file)]).toEqual([pattern, file, true]);
  }
});
