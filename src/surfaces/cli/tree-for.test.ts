import { expect, test } from "bun:test";
import { tree } from "./tree.ts";
import { treeFor } from "./tree-for.ts";

const part = async (...argv: string[]) => (await treeFor(argv)).commands ?? [];

test("a command that is typed often is read without the others, and is the same command", async () => {
  for (const name of ["mail", "log", "hook", "mcp", "status", "merge", "task", "sling", "done"]) {
    expect(await part(name, "--json")).toEqual(tree.commands?.filter((command) => command.name === name) ?? []);
  }
});

test("all other words reach the whole tree", async () => {
  for (const argv of [[], ["--json", "status"], ["help", "status"], ["stats"], ["toString"], ["engine", "status"]]) {
    expect(await treeFor(argv)).toBe(tree);
  }
});
