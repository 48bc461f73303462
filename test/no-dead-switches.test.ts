import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { knownKeys } from "../src/config/keys.ts";
import { unusedKeys } from "../src/config/unused-keys.ts";
import { tree } from "../src/surfaces/cli/tree.ts";
import { isHandled, placedFlags } from "../testkit/flag-handlers.ts";
import { acceptedOnly, handledByList, untypedFlags } from "./switches/flags.table.ts";
import { keysSetIn, wordBehind } from "./switches/keys.table.ts";

const root = resolve(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const patterns = knownKeys.map(({ pattern }) => pattern);
const later = Object.keys(unusedKeys);

describe("config keys", () => {
  test("each key has its test file, and no other key has", () => {
    expect(Object.values(keysSetIn).flat().toSorted()).toEqual(patterns.toSorted());
    expect(later.filter((key) => patterns.includes(key))).toEqual([]);
  });

  test("each test file sets the keys that it stands for, in its code and not only in the name of a test", () => {
    expect(Object.keys(keysSetIn).filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const unset = Object.entries(keysSetIn).flatMap(([file, keys]) => {
      const code = codeOf(read(file));
      return keys.filter((key) => !hasWord(code, wordOf(key))).map((key) => `${file}: ${key}`);
    });
    expect(unset).toEqual([]);
    expect(Object.keys(wordBehind).filter((key) => !patterns.includes(key))).toEqual([]);
  });

  test("a key that only the name of a test speaks of would be noticed", () => {
    const named = codeOf(
      'test.each([1])("merge.mode: %p decides", async (mode) => {});\ntest(`merge.mode`, () => {});',
    );
    expect(hasWord(named, "mode")).toBe(true);
    expect(hasWord(named.replaceAll("(mode)", "()"), "mode")).toBe(false);
    expect(hasWord(codeOf('test("it lands", () => set("merge:\\n  mode: approve"));'), "mode")).toBe(true);
    expect([wordOf("mail.wake.*"), wordOf("providers.*.type"), wordOf("events.maxRows")]).toEqual([
      "wake",
      "type",
      "mostEvents",
    ]);
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
    const tests = [...new Bun.Glob("{src,test}/**/*.{test,world}.ts").scanSync(root)];
    const typed = tests.map((file) => codeOf(read(file))).join("\n");
    const untyped = flags
      .filter(({ flag }) => !new RegExp(`--(no-)?${flag.name}(?![\\w-])`).test(typed))
      .map(({ name }) => name);
    expect(untyped.filter((name) => !untypedFlags.some((known) => known === name))).toEqual([]);
    expect(untypedFlags.filter((name) => !flags.some((flag) => flag.name === name))).toEqual([]);
  });
});

/** A test file without the names of its tests: they may be changed at any time, and prove nothing. */
const codeOf = (text: string): string =>
  text.replaceAll(/(["`])(?:(?!\1)[^\\\n]|\\.)*\1(?=,\s*(?:async\s*)?\()/g, '""');

/** The last part of a key that is a name of its own; in the tests of some keys it goes by another word. */
const wordOf = (key: string): string => wordBehind[key] ?? key.split(".").findLast((part) => part !== "*") ?? key;

const hasWord = (code: string, word: string): boolean => new RegExp(`\\b${word}\\b`).test(code);

/** A key with a free name in it is spoken of by what stands before the name. */
function speaksOf(text: string, key: string): boolean {
  const words = key.replace(/\*/g, "[\\w<>-]+").replaceAll(".", "\\.");
  return new RegExp(`(?<![\\w./-])${words}(?![\\w/-])`).test(text);
}
