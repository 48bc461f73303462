import { expect, test } from "bun:test";
import { nodesOf, type SyntaxNode, textOf } from "../code/syntax.ts";
import type { Language } from "../file-format.ts";
import { parseText } from "./grammars.ts";

async function spelled(language: Language, src: string, type: string): Promise<string[]> {
  const node = await parseText(language, src);
  if (node === undefined) throw new Error("no tree");
  return [...nodesOf({ src, node, language })].filter((code) => code.node.type === type).map(textOf);
}

test("each language gives a tree of plain data", async () => {
  expect(await spelled("typescript", "const a: number = 1;\n", "variable_declarator")).toEqual(["a: number = 1"]);
  expect(await spelled("tsx", "const a = <b>{c}</b>;\n", "jsx_expression")).toEqual(["{c}"]);
  expect(await spelled("javascript", "const a = <b>{c}</b>;\n", "jsx_expression")).toEqual(["{c}"]);
  expect(await spelled("python", "def f(x):\n    return x\n", "return_statement")).toEqual(["return x"]);
});

test("offsets count UTF-16 units, so text outside the basic plane does not shift them", async () => {
  expect(await spelled("typescript", "const a = '𝒳é';\nconst b = '日本';\n", "string")).toEqual(["'𝒳é'", "'日本'"]);
  expect(await spelled("python", "a = '𝒳é'\nb = '日本'\n", "string")).toEqual(["'𝒳é'", "'日本'"]);
});

test("fields are named, and broken text says so", async () => {
  const tree = await parseText("typescript", "function f() {}\n");
  const fields = (node: SyntaxNode): (string | undefined)[] => node.children.map(({ field }) => field);
  expect(tree?.children.flatMap(fields)).toEqual([undefined, "name", "parameters", "body"]);
  expect(tree?.hasError).toBe(false);
  expect((await parseText("typescript", "function f( {}\n"))?.hasError).toBe(true);
  expect((await parseText("python", "def f(:\n  pass\n"))?.hasError).toBe(true);
});
