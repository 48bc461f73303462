import type { MergeCase } from "./case.ts";

const files = {
  "lib.ts":
    "export const a = 1, b = 2, c = 3, d = 4; export default 9; export type T = number; export interface U { x: 1 }\n",
  "other.ts": "export const a = 10, e = 5, f = 6; export default 7;\n",
  "third.ts": "export const g = 70, h = 80;\n",
};

const base = `import { a } from "./lib.ts";

export const sum = () => a;
`;

/** Imports and export lists: sets of names, in whatever order both sides wrote them. */
export const imports: readonly MergeCase[] = [
  {
    name: "both sides add an import of another module",
    base,
    files,
    ours: [
      ['./lib.ts";\n', './lib.ts";\nimport { e } from "./other.ts";\n'],
      ["", "export const five = () => e;\n"],
    ],
    theirs: [
      ['./lib.ts";\n', './lib.ts";\nimport { g } from "./third.ts";\n'],
      ["() => a", "() => a + g"],
    ],
    holds: ["m.sum() === 71", "m.five() === 5"],
  },
  {
    name: "both sides add a name to one import",
    base,
    files,
    ours: [
      ["{ a }", "{ a, b }"],
      ["", "export const two = () => b;\n"],
    ],
    theirs: [
      ["{ a }", "{ a, c }"],
      ["() => a", "() => a + c"],
    ],
    holds: ["m.sum() === 4", "m.two() === 2"],
  },
  {
    name: "one side's formatter breaks the import over lines while the other adds a name",
    base,
    files,
    ours: [
      ["{ a }", "{\n  a,\n  b,\n  d,\n}"],
      ["", "export const six = () => b + d;\n"],
    ],
    theirs: [
      ["{ a }", "{ a, c }"],
      ["() => a", "() => a + c"],
    ],
    holds: ["m.sum() === 4", "m.six() === 6"],
  },
  {
    name: "both sides add the same import",
    base,
    files,
    ours: [
      ['./lib.ts";\n', './lib.ts";\nimport { e } from "./other.ts";\n'],
      ["", "export const five = () => e;\n"],
    ],
    theirs: [
      ['./lib.ts";\n', './lib.ts";\nimport { e } from "./other.ts";\n'],
      ["() => a", "() => a + e"],
    ],
    holds: ["m.sum() === 6", "m.five() === 5"],
    once: ["./other.ts"],
  },
  {
    name: "both sides begin to import different names of one module",
    base,
    files,
    ours: [
      ['./lib.ts";\n', './lib.ts";\nimport { e } from "./other.ts";\n'],
      ["", "export const five = () => e;\n"],
    ],
    theirs: [
      ['./lib.ts";\n', './lib.ts";\nimport { f } from "./other.ts";\n'],
      ["() => a", "() => a + f"],
    ],
    holds: ["m.sum() === 7", "m.five() === 5"],
    once: ["./other.ts"],
  },
  {
    name: "one side adds a default import to a named one, the other a name",
    base,
    files,
    ours: [
      ["import { a }", "import nine, { a }"],
      ["", "export const n = () => nine;\n"],
    ],
    theirs: [
      ["{ a }", "{ a, c }"],
      ["() => a", "() => a + c"],
    ],
    holds: ["m.sum() === 4", "m.n() === 9"],
  },
  {
    name: "one side removes a name that the other side leaves alone, while both add",
    base: base.replace("{ a }", "{ a, b }"),
    files,
    ours: [
      ["{ a, b }", "{ a, c }"],
      ["", "export const three = () => c;\n"],
    ],
    theirs: [
      ["{ a, b }", "{ a, b, d }"],
      ["() => a", "() => a + d"],
    ],
    holds: ["m.sum() === 5", "m.three() === 3"],
  },
  {
    name: "type and value imports of one module are different imports",
    base,
    files,
    ours: [
      ['./lib.ts";\n', './lib.ts";\nimport type { T } from "./lib.ts";\n'],
      ["", "export const id = (t: T) => t;\n"],
    ],
    theirs: [
      ["{ a }", "{ a, c }"],
      ["() => a", "() => a + c"],
    ],
    holds: ["m.sum() === 4", "m.id(3) === 3"],
  },
  {
    name: "both sides add to an export list",
    base: "const a = 1;\nconst b = 2;\nconst c = 3;\n\nexport { a };\n",
    ours: [["{ a }", "{ a, b }"]],
    theirs: [["{ a }", "{ a, c }"]],
    holds: ["m.a === 1", "m.b === 2", "m.c === 3"],
  },
  {
    name: "both sides add a line to an export list of many lines without a last comma",
    base: "const a = 1;\nconst b = 2;\nconst c = 3;\n\nexport {\n  a\n};\n",
    ours: [["  a\n", "  a,\n  b\n"]],
    theirs: [["  a\n", "  a,\n  c as see\n"]],
    holds: ["m.a === 1", "m.b === 2", "m.see === 3"],
  },
  {
    name: "both sides re-export another module",
    base: 'export * from "./lib.ts";\n',
    files,
    ours: [["", 'export { e } from "./other.ts";\n']],
    theirs: [["", 'export { g } from "./third.ts";\n']],
    holds: ["m.a === 1", "m.e === 5", "m.g === 70"],
  },
  {
    name: "both sides bind one local name from different modules",
    base: "export const x = 1;\n",
    files,
    ours: [
      ["export const x", 'import { a } from "./lib.ts";\n\nexport const x'],
      ["x = 1", "x = a"],
    ],
    theirs: [
      ["export const x", 'import { a } from "./other.ts";\n\nexport const x'],
      ["", "export const y = a;\n"],
    ],
  },
  {
    name: "one side imports a name that the other side declares",
    base: "export const x = 1;\n",
    files,
    ours: [["export const x", 'import { a } from "./lib.ts";\n\nexport const x']],
    theirs: [["", "export function a() {}\n"]],
  },
  {
    name: "both sides alias different things to one name in one import",
    base,
    files,
    ours: [["{ a }", "{ a, b as x }"]],
    theirs: [["{ a }", "{ a, c as x }"]],
  },
  {
    name: "both sides choose a different default name",
    base,
    files,
    ours: [["import { a }", "import nine, { a }"]],
    theirs: [["import { a }", "import neuf, { a }"]],
  },
  {
    name: "one side drops an import that the other side newly uses",
    base: base.replace("{ a }", "{ a, b }"),
    files,
    ours: [["{ a, b }", "{ a, c }"]],
    theirs: [
      ["{ a, b }", "{ a, b, d }"],
      ["() => a", "() => a + b"],
    ],
  },
  {
    name: "both sides add an import for its side effects at one place",
    base: 'import "./one.ts";\n\nexport const x = 1;\n',
    ours: [['./one.ts";\n', './one.ts";\nimport "./two.ts";\n']],
    theirs: [['./one.ts";\n', './one.ts";\nimport "./three.ts";\n']],
  },
  {
    name: "one side makes an import type-only while the other uses it as a value",
    base: 'import { U } from "./lib.ts";\n\nexport type V = U;\n',
    files,
    ours: [["import { U }", "import type { U }"]],
    theirs: [
      ["{ U }", "{ U, a }"],
      ["", "export const v = a;\n"],
    ],
  },
  {
    name: "both sides export different things under one name",
    base: "const a = 1;\nconst b = 2;\nconst c = 3;\n\nexport { a };\n",
    ours: [["{ a }", "{ a, b as x }"]],
    theirs: [["{ a }", "{ a, c as x }"]],
  },
  {
    name: "CommonJS requires added by both sides",
    language: "javascript",
    base: 'const a = require("node:path");\n\nexports.x = () => a.sep;\n',
    ours: [
      ['path");\n', 'path");\nconst fs = require("node:fs");\n'],
      ["", "exports.f = () => typeof fs.statSync;\n"],
    ],
    theirs: [
      ['path");\n', 'path");\nconst os = require("node:os");\n'],
      ["", "exports.o = () => typeof os.cpus;\n"],
    ],
    holds: ['m.x() === "/"', 'm.f() === "function"', 'm.o() === "function"'],
  },
];
