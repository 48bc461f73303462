import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Glob } from "bun";

const root = resolve(import.meta.dir, "..");

/** A part this long may stand apart from its only reader, when both in one file would be longer than a good file is. */
const partLines = 60;
const goodLines = 250;

/** Other files that stand apart from their only reader, or folders of them, each with its reason. */
const reasons: Readonly<Record<string, string>> = {
  "src/contract/tools/": "one table of tools per noun; the list of all tools reads them",
  "src/store/fleet.ts": "one file per statement family; the unit of work reads them all",
  "src/store/web.ts": "one file per statement family; the unit of work reads them all",
  "src/store/notifications.ts": "one file per statement family; the unit of work reads them all",
  "src/store/imports.ts": "one file per statement family; the unit of work reads them all",
};

interface Imported {
  readonly by: string;
  /** Loaded when it is needed, so that short commands do without it. */
  readonly isLazy: boolean;
}

/** Who imports each file. Tests do not count: a file that only they read would be test-only code. */
function readersOf(files: readonly string[]): Map<string, Imported[]> {
  const readers = new Map<string, Imported[]>();
  for (const file of files) {
    if (file.endsWith(".test.ts")) continue;
    const text = readFileSync(join(root, file), "utf8");
    for (const [, how, path = ""] of text.matchAll(/(from|import\()\s*"(\.[^"]+)"/g)) {
      const to = join(dirname(file), path);
      readers.set(to, [...(readers.get(to) ?? []), { by: file, isLazy: how === "import(" }]);
    }
  }
  return readers;
}

const linesOf = (file: string): number => readFileSync(join(root, file), "utf8").split("\n").length;

/** The only file that reads this one, if it is in the same folder and loads it at its start. */
function onlyReader(file: string, readers: readonly Imported[] = []): string | undefined {
  const [reader, ...others] = new Set(readers.map(({ by }) => by));
  if (reader === undefined || others.length > 0 || dirname(reader) !== dirname(file)) return undefined;
  return readers.some(({ isLazy }) => isLazy) ? undefined : reader;
}

test("a part with one reader in its folder is in that reader, or is long, tested by itself, loaded late or has its reason", () => {
  const files = [...new Glob("{src,testkit,bench,scripts}/**/*.ts").scanSync(root)].toSorted();
  const readers = readersOf(files);
  const parts = files.filter((file) => file.startsWith("src/") && !/\.(test|d)\.ts$/.test(file));
  expect(parts.length).toBeGreaterThan(0);
  const apart = parts.filter((file) => {
    const reader = onlyReader(file, readers.get(file));
    if (reader === undefined || existsSync(join(root, file.replace(/\.ts$/, ".test.ts")))) return false;
    return linesOf(file) < partLines || linesOf(file) + linesOf(reader) <= goodLines;
  });
  const reasonOf = (file: string) => Object.keys(reasons).find((known) => file.startsWith(known));
  expect(apart.filter((file) => reasonOf(file) === undefined)).toEqual([]);
  expect(Object.keys(reasons).filter((known) => !apart.some((file) => file.startsWith(known)))).toEqual([]);
});

test("a part with one reader would be noticed", () => {
  const reader = { by: "src/a/reader.ts", isLazy: false };
  expect(onlyReader("src/a/part.ts", [reader])).toBe("src/a/reader.ts");
  expect(onlyReader("src/a/part.ts", [reader, { by: "src/a/other.ts", isLazy: false }])).toBeUndefined();
  expect(onlyReader("src/a/part.ts", [{ ...reader, isLazy: true }])).toBeUndefined();
  expect(onlyReader("src/b/part.ts", [reader])).toBeUndefined();
});
