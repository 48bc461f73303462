import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { knownKeys } from "../src/config/keys.ts";
import { unusedKeys } from "../src/config/unused-keys.ts";
import { tree } from "../src/surfaces/cli/tree.ts";
import { isHandled, placedFlags } from "../testkit/flag-handlers.ts";
import { acceptedOnly, handledByList, untypedFlags } from "./switches/flags.table.ts";
import { actsBecause } from "./switches/keys.table.ts";

const root = resolve(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const patterns = knownKeys.map(({ pattern }) => pattern);
const later = Object.keys(unusedKeys);

describe("config keys", () => {
  test("each key of the table has a test that it acts, and no other key has", () => {
    expect(Object.keys(actsBecause).toSorted()).toEqual(patterns.toSorted());
    expect(later.filter((key) => patterns.includes(key))).toEqual([]);
  });

  test("each test that a key acts is there, once, by its sentence", () => {
    const missing = Object.entries(actsBecause).filter(([, [file, sentence]]) => {
      return !existsSync(join(root, file)) || read(file).split(sentence).length !== 2;
    });
    expect(missing).toEqual([]);
  });

  test("no page speaks of a key that nothing uses yet as if it acted", () => {
    const pages = [
      ...readdirSync(root).filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md"),
      ...[...new Bun.Glob("{docs,agents}/**/*.md").scanSync(root)],
    ];
    const said = pages.flatMap((page) =>
      read(page)
        .split("\n")
        .filter((line) => later.some((key) => speaksOf(line, key)) && !line.includes("no effect yet"))
        .map((line) => `${page}: ${line}`),
    );
    expect(said).toEqual([]);
  });

  test("help and hints name no key that nothing uses yet", () => {
    const sources = [...new Bun.Glob("src/{surfaces,compose}/**/*.ts").scanSync(root)].filter(
      (file) => !file.endsWith(".test.ts"),
    );
    const said = sources.flatMap((file) => {
      const text = read(file);
      const strings = text.match(/"[^"\n]*"|`[^`]*`/g) ?? [];
      return later.filter((key) => strings.some((words) => speaksOf(words, key))).map((key) => `${file}: ${key}`);
    });
    expect(said).toEqual([]);
  });
});

describe("flags", () => {
  const flags = placedFlags(tree, join(root, "src/surfaces/cli/commands"));

  test("each flag is looked at by the handler of its command", () => {
    const ignored = flags.filter((flag) => !isHandled(flag)).map(({ name }) => name);
    expect(ignored.toSorted()).toEqual([...acceptedOnly, ...handledByList].toSorted());
  });

  test("a flag that is only accepted says so, or is not shown", () => {
    const silent = flags.filter(
      ({ name, flag }) =>
        acceptedOnly.some((known) => known === name) &&
        flag.hidden !== true &&
        flag.deprecated === undefined &&
        !/accepted|always|no effect/i.test(flag.summary),
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  test("each flag is typed in some test", () => {
    const tests = [...new Bun.Glob("{src,test}/**/*.{test,world}.ts").scanSync(root)].map(read).join("\n");
    const untyped = flags
      .filter(({ flag }) => !new RegExp(`--(no-)?${flag.name}(?![\\w-])`).test(tests))
      .map(({ name }) => name);
    expect(untyped.filter((name) => !untypedFlags.some((known) => known === name))).toEqual([]);
    expect(untypedFlags.filter((name) => !flags.some((flag) => flag.name === name))).toEqual([]);
  });
});

/** A key with a free name in it is spoken of by what stands before the name. */
function speaksOf(text: string, key: string): boolean {
  const words = key.replace(/\*/g, "[\\w<>-]+").replaceAll(".", "\\.");
  return new RegExp(`(?<![\\w./-])${words}(?![\\w/-])`).test(text);
}
