import type { MergeCase } from "./case.ts";

const one = "export const a = 1;\n";
const crlf = (text: string): string => text.replaceAll("\n", "\r\n");

/** How a file is written: line endings, final newline, broken or mixed text. */
export const form: readonly MergeCase[] = [
  {
    name: "both sides use Windows line endings",
    base: crlf(one),
    ours: crlf(`${one}export const b = 2;\n`),
    theirs: crlf(`${one}export const c = 3;\n`),
    holds: ["m.b === 2", "m.c === 3"],
    once: ["b = 2;\r\n", "c = 3;\r\n"],
  },
  {
    name: "one side converts the line endings",
    base: one,
    ours: crlf(`${one}export const b = 2;\n`),
    theirs: `${one}export const c = 3;\n`,
    holds: ["m.b === 2", "m.c === 3"],
  },
  {
    name: "one side's file has no final newline",
    base: one,
    ours: `${one}export const b = 2;`,
    theirs: `${one}export const c = 3;\n`,
    holds: ["m.b === 2", "m.c === 3"],
  },
  {
    name: "a side that is not valid code",
    base: one,
    ours: `${one}export const b = ;\n`,
    theirs: `${one}export const c = 3;\n`,
  },
  {
    name: "text outside the basic plane before the edits",
    base: `// 𝒳é日本\n${one}`,
    ours: `// 𝒳é日本\n${one}export const b = "𝒴";\n`,
    theirs: `// 𝒳é日本\n${one}export const c = "日";\n`,
    holds: ["m.b === '𝒴'", "m.c === '日'"],
  },
  {
    name: "both sides create the file",
    base: "",
    ours: "export const b = 2;\n",
    theirs: "export const c = 3;\n",
    holds: ["m.b === 2", "m.c === 3"],
  },
  {
    name: "a template string that looks like code",
    base: "export const t = `\nexport const a = 1;\n`;\n",
    ours: [["", "export const b = 2;\n"]],
    theirs: [["", "export const a = 3;\n"]],
    holds: ["m.b === 2", "m.a === 3", "m.t.length > 10"],
  },
  {
    name: "one side only reformats a list that the other extends",
    base: "export const o = { a: 1, b: 2 };\n",
    ours: "export const o = {\n  a: 1,\n  b: 2,\n};\n",
    theirs: "export const o = { a: 1, b: 2, c: 3 };\n",
    holds: ["m.o.c === 3"],
    once: ["  c: 3,\n"],
  },
];
