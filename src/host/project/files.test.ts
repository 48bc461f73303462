import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../domain/failure.ts";
import { createFile, keepCopy, makeDirectory, readTexts, replaceFile } from "./files.ts";

async function inTemp(use: (dir: string) => void | Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "ov-files-"));
  try {
    await use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test("a file is created once and never written over", () =>
  inTemp((dir) => {
    const path = join(dir, "a.txt");
    expect(createFile(path, "first")).toBe(true);
    expect(createFile(path, "second")).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("first");
    expect(readdirSync(dir)).toEqual(["a.txt"]);
  }));

test("a directory is made once, with the permissions asked for", () =>
  inTemp((dir) => {
    expect(makeDirectory(join(dir, "run"), 0o700)).toBe(true);
    expect(makeDirectory(join(dir, "run"), 0o700)).toBe(false);
    expect(statSync(join(dir, "run")).mode & 0o777).toBe(0o700);
  }));

test("where nothing may be written, the failure says so", () =>
  inTemp((dir) => {
    // Root may write anywhere but in a file system of the kernel, which may be mounted read-only.
    const place = process.getuid?.() === 0 ? "/sys" : join(dir, "closed");
    if (place !== "/sys") {
      mkdirSync(place);
      chmodSync(place, 0o555);
    }
    for (const write of [() => makeDirectory(join(place, ".overstory")), () => createFile(join(place, "a"), "x")]) {
      expect(failureOf(write)).toMatchObject({ kind: "store-read-only", path: place });
    }
  }));

test("copies of a file never replace each other, also within a millisecond", () =>
  inTemp((dir) => {
    const path = join(dir, "config.yaml");
    const bytes = Buffer.from([0xff, 0x00, 0x41]);
    writeFileSync(path, bytes);
    const copies = [keepCopy(path, 1_800_000_000_000), keepCopy(path, 1_800_000_000_000)];
    expect(copies).toEqual([`${path}.2027-01-15T08-00-00-000Z.bak`, `${path}.2027-01-15T08-00-00-000Z-1.bak`]);
    for (const copy of copies) expect(readFileSync(copy).equals(bytes)).toBe(true);
  }));

test("a replacement keeps the permissions; one that is not accepted leaves no trace", () =>
  inTemp(async (dir) => {
    const path = join(dir, "a");
    writeFileSync(path, "old", { mode: 0o640 });
    chmodSync(path, 0o640);
    let seen = "";
    const accept = async (draft: string): Promise<boolean> => {
      seen = readFileSync(draft, "utf8");
      return false;
    };
    expect(await replaceFile(path, { bytes: "new", accept })).toBe(false);
    expect([seen, readFileSync(path, "utf8"), readdirSync(dir)]).toEqual(["new", "old", ["a"]]);
    expect(await replaceFile(path, { bytes: "new" })).toBe(true);
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["new", 0o640]);
    expect(readdirSync(dir)).toEqual(["a"]);
  }));

test("texts are read of files that are there; of a huge one it only counts that it is", () =>
  inTemp((dir) => {
    writeFileSync(join(dir, "package.json"), "{}");
    writeFileSync(join(dir, "yarn.lock"), "x".repeat(1024 * 1024 + 1));
    mkdirSync(join(dir, "Makefile"));
    const texts = readTexts(dir, ["package.json", "yarn.lock", "Makefile", "go.mod"]);
    expect([...texts]).toEqual([
      ["package.json", "{}"],
      ["yarn.lock", ""],
    ]);
    expect(existsSync(join(dir, "go.mod"))).toBe(false);
  }));

function failureOf(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error instanceof Failure ? error.data : error;
  }
}
