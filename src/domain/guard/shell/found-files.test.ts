import { expect, test } from "bun:test";
import { foundFiles } from "./found-files.ts";
import { literal } from "./syntax.ts";

const found = (pipe: string) =>
  foundFiles(pipe.split(" | ").map((command) => command.split(" ").map(literal)))?.map(({ text }) => text);

test("what a search hands on lies below the places that it names", () => {
  expect(found("find src -name *.ts")).toEqual(["src/x"]);
  expect(found("find a b -name *.ts | sort | head -5")).toEqual(["a/x", "b/x"]);
  expect(found("grep -rl foo src test")).toEqual(["src/x", "test/x"]);
  expect(found("grep -l foo a.ts")).toEqual(["a.ts"]);
  expect(found("rg -l foo")).toEqual(["./x"]);
  expect(found("git ls-files src")).toEqual(["x"]);
  expect(found("git ls-files | grep .orig$")).toEqual(["x"]);
  expect(found("ls *.orig b.ts")).toEqual(["*.orig", "b.ts"]);
});

test("what no name has picked may be the place itself", () => {
  expect(found("find src -type f")).toEqual(["src"]);
  expect(found("find . -name a -o -type f")).toEqual(["."]);
  expect(found("git ls-files")).toEqual(["."]);
  expect(found("git ls-files -o | grep -v x")).toEqual(["."]);
  expect(found("rg --files")).toEqual(["."]);
});

test("what is not a list of files, or is changed on the way, is unknown", () => {
  for (const pipe of [
    "ls",
    "ls src",
    "ls -l a.ts",
    "echo /etc/x",
    "cat list",
    "grep -r foo src",
    "find . -name x | sed s/x/y/",
    "git log",
  ]) {
    expect(found(pipe)).toBeUndefined();
  }
  for (const pipe of ["find . -name x -exec echo a ;", "find . -printf /etc/x", "find . -name x | grep -o y"]) {
    expect(found(pipe)).toBeUndefined();
  }
});
