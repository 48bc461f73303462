import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realPathOf } from "./tool-guard.ts";

let base = "";
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ov-paths-")));
  mkdirSync(join(base, "tree"));
  mkdirSync(join(base, "out", "deep"), { recursive: true });
  writeFileSync(join(base, "tree", "file"), "");
  symlinkSync("../out/deep", join(base, "tree", "link"));
  symlinkSync("nowhere", join(base, "tree", "broken"));
});
afterAll(() => rmSync(base, { recursive: true }));

test.each([
  ["tree/new/file", "tree/new/file"],
  ["tree/./file", "tree/file"],
  ["tree/../out", "out"],
  ["tree/link/x", "out/deep/x"],
  ["tree/link/../x", "out/x"],
  ["tree/file/x", "tree/file/x"],
  ["tree/broken", "tree/broken"],
])("%s leads to %s", (path, real) => {
  expect(realPathOf(`${base}/${path}`)).toBe(join(base, real));
});

test("nothing lies above the root", () => {
  expect(realPathOf("/../..")).toBe("/");
});
