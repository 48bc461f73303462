import { expect, test } from "bun:test";
import { mergeByStructure } from "./structure.ts";

const versions = (path: string, text: (change: string) => string) => ({
  path,
  base: text("a"),
  ours: text("b"),
  theirs: text("c"),
});

test("a file that is long enough to hold up the engine is left to those who wrote it", async () => {
  const long = (change: string) => Array.from({ length: 3_001 }, (_, at) => `k${at}: ${change}\n`).join("");
  expect(await mergeByStructure(versions("a.yaml", long))).toMatchObject({
    kind: "escalate",
    reason: "the file has more than 3000 lines or 300000 characters",
  });
});

test("code with very many parts on one level is read in one pass, and code of very many levels is not read", async () => {
  const many = (change: string) => `${"{".repeat(100_000)}${change}`;
  const deep = (change: string) => `${"{".repeat(1_000)}${change}${"}".repeat(1_000)}`;
  for (const text of [many, deep]) {
    expect(await mergeByStructure(versions("a.ts", text))).toMatchObject({ kind: "escalate" });
  }
});
