import type { MergeCase } from "./case.ts";

const box = `export class Box {
  items: number[] = [];

  add(x: number) {
    this.items.push(x);
  }
}
`;

/** Members of classes, interfaces, objects, enums, unions and switches. */
export const members: readonly MergeCase[] = [
  {
    name: "both sides add a method at the end of a class",
    base: box,
    ours: [["push(x);\n  }\n", "push(x);\n  }\n\n  size() {\n    return this.items.length;\n  }\n"]],
    theirs: [["push(x);\n  }\n", "push(x);\n  }\n\n  first() {\n    return this.items[0];\n  }\n"]],
    holds: ["(() => { const b = new m.Box(); b.add(4); return b.size() === 1 && b.first() === 4; })()"],
  },
  {
    name: "both sides add a field",
    base: box,
    ours: [["= [];\n", "= [];\n  limit = 3;\n"]],
    theirs: [["= [];\n", "= [];\n  name = 'box';\n"]],
    holds: ["new m.Box().limit === 3", "new m.Box().name === 'box'"],
  },
  {
    name: "both sides add a field whose value comes from a counter",
    base: `let last = 0;\nconst next = () => ++last;\n${box}`,
    ours: [["= [];\n", "= [];\n  a = next();\n"]],
    theirs: [["= [];\n", "= [];\n  b = next();\n"]],
  },
  {
    name: "one side adds a method, the other extends the class",
    base: `class Base {\n  base() {\n    return 0;\n  }\n}\n\n${box}`,
    ours: [["class Box {", "class Box extends Base {"]],
    theirs: [["= [];\n", "= [];\n\n  size() {\n    return this.items.length;\n  }\n"]],
    holds: ["new m.Box().base() === 0", "new m.Box().size() === 0"],
  },
  {
    name: "both sides change the heritage of a class",
    base: box,
    ours: [["class Box {", "class Box extends Array {"]],
    theirs: [["class Box {", "class Box extends Map {"]],
  },
  {
    name: "both sides add the same method with different bodies",
    base: box,
    ours: [["push(x);\n  }\n", "push(x);\n  }\n\n  size() {\n    return this.items.length;\n  }\n"]],
    theirs: [["  items:", "  size() {\n    return 0;\n  }\n\n  items:"]],
  },
  {
    name: "a getter and a setter of one name added by different sides",
    base: box,
    ours: [["= [];\n", "= [];\n\n  get n() {\n    return 1;\n  }\n"]],
    theirs: [["= [];\n", "= [];\n\n  set n(x: number) {}\n"]],
  },
  {
    name: "one side changes a method, the other adds one right after it",
    base: box,
    ours: [["this.items.push(x);", "this.items.push(x + 1);"]],
    theirs: [["push(x);\n  }\n", "push(x);\n  }\n\n  size() {\n    return this.items.length;\n  }\n"]],
    holds: ["(() => { const b = new m.Box(); b.add(4); return b.size() === 1 && b.items[0] === 5; })()"],
  },
  {
    name: "one side renames a field that the other side newly uses",
    base: box,
    ours: [
      ["items: number[]", "things: number[]"],
      ["this.items.push", "this.things.push"],
    ],
    theirs: [["  add(", "  size() {\n    return this.items.length;\n  }\n\n  add("]],
  },
  {
    name: "an empty class filled by both sides",
    base: "export class A {}\n",
    ours: [["{}", "{\n  a() {\n    return 1;\n  }\n}"]],
    theirs: [["{}", "{\n  b() {\n    return 2;\n  }\n}"]],
    holds: ["new m.A().a() === 1", "new m.A().b() === 2"],
  },
  {
    name: "both sides add a property to an interface",
    base: "export interface I {\n  a: string;\n}\n\nexport const x = 1;\n",
    ours: [["a: string;\n", "a: string;\n  b?: number;\n"]],
    theirs: [["a: string;\n", "a: string;\n  c?: boolean;\n"]],
    holds: ["m.x === 1"],
    once: ["b?: number;\n", "c?: boolean;\n", "a: string;\n"],
  },
  {
    name: "both sides add a property to an inline object type",
    base: "export type P = { a: string };\nexport const x = 1;\n",
    ours: [["{ a: string }", "{ a: string; b: number }"]],
    theirs: [["{ a: string }", "{ a: string; c: boolean }"]],
    holds: ["m.x === 1"],
    once: ["b: number", "c: boolean", "a: string"],
  },
  {
    name: "both sides add one property of an interface with different types",
    base: "export interface I {\n  a: string;\n}\n",
    ours: [["a: string;\n", "a: string;\n  b: number;\n"]],
    theirs: [["a: string;\n", "a: string;\n  b: string;\n"]],
  },
  {
    name: "both sides add a key to an object without a last comma",
    base: "export const o = {\n  a: 1\n};\n",
    ours: [["a: 1\n", "a: 1,\n  b: 2\n"]],
    theirs: [["a: 1\n", "a: 1,\n  c: 3\n"]],
    holds: ["m.o.a === 1", "m.o.b === 2", "m.o.c === 3"],
  },
  {
    name: "both sides add a key to an object on one line",
    base: "export const o = { a: 1 };\n",
    ours: [["a: 1", "a: 1, b: 2"]],
    theirs: [["a: 1", "a: 1, c: 3"]],
    holds: ["m.o.a === 1", "m.o.b === 2", "m.o.c === 3"],
  },
  {
    name: "keys in nested objects",
    base: "export const o = {\n  x: {\n    a: 1,\n  },\n  y: 2,\n};\n",
    ours: [["a: 1,\n", "a: 1,\n    b: 2,\n"]],
    theirs: [
      ["a: 1,\n", "a: 1,\n    c: 3,\n"],
      ["y: 2", "y: 22"],
    ],
    holds: ["m.o.x.b === 2", "m.o.x.c === 3", "m.o.y === 22"],
  },
  {
    name: "both sides set one key differently",
    base: "export const o = {\n  a: 1,\n};\n",
    ours: [["a: 1", "a: 2"]],
    theirs: [["a: 1", "a: 3"]],
  },
  {
    name: "both sides add one key at different places with different values",
    base: "export const o = {\n  a: 1,\n  b: 2,\n  c: 3,\n};\n",
    ours: [["  a: 1", "  d: 4,\n  a: 1"]],
    theirs: [["  c: 3,\n", "  c: 3,\n  'd': 5,\n"]],
  },
  {
    name: "both sides add one key at different places with one value",
    base: "export const o = {\n  a: 1,\n  b: 2,\n  c: 3,\n};\n",
    ours: [["  a: 1", "  d: 4,\n  a: 1"]],
    theirs: [["  c: 3,\n", "  c: 3,\n  d: 4,\n  e: 5,\n"]],
    holds: ["m.o.d === 4", "m.o.e === 5"],
    once: ["d: 4"],
  },
  {
    name: "one side adds a spread where the other adds a key",
    base: "const more = { b: 9 };\nexport const o = {\n  a: 1,\n};\n",
    ours: [["a: 1,\n", "a: 1,\n  ...more,\n"]],
    theirs: [["a: 1,\n", "a: 1,\n  b: 2,\n"]],
  },
  {
    name: "both sides add keys before a spread",
    base: "const more = { z: 9 };\nexport const o = {\n  a: 1,\n  ...more,\n};\n",
    ours: [["a: 1,\n", "a: 1,\n  b: 2,\n"]],
    theirs: [["a: 1,\n", "a: 1,\n  c: 3,\n"]],
    holds: ["m.o.b === 2", "m.o.c === 3", "m.o.z === 9"],
  },
  {
    name: "an object inside a call, which both sides extend",
    base: "const define = <T>(x: T) => x;\nexport default define({\n  a: 1,\n});\n",
    ours: [["a: 1,\n", "a: 1,\n  b: 2,\n"]],
    theirs: [["a: 1,\n", "a: 1,\n  c: 3,\n"]],
    holds: ["m.default.b === 2", "m.default.c === 3"],
  },
  {
    name: "both sides take the same next code",
    base: "export const codes = {\n  A: 1,\n  B: 2,\n};\n",
    ours: [["B: 2,\n", "B: 2,\n  C: 3,\n"]],
    theirs: [["B: 2,\n", "B: 2,\n  D: 3,\n"]],
  },
  {
    name: "an enum with names as values",
    base: 'export enum E {\n  A = "a",\n}\n',
    ours: [['A = "a",\n', 'A = "a",\n  B = "b",\n']],
    theirs: [['A = "a",\n', 'A = "a",\n  C = "c",\n']],
    holds: ["m.E.A === 'a'", "m.E.B === 'b'", "m.E.C === 'c'"],
  },
  {
    name: "an enum that numbers its members itself",
    base: "export enum E {\n  A,\n}\n",
    ours: [["A,\n", "A,\n  B,\n"]],
    theirs: [["A,\n", "A,\n  C,\n"]],
  },
  {
    name: "an enum whose members are numbered, one at each end",
    base: "export enum E {\n  A,\n  B,\n  C,\n}\n",
    ours: [["  A,\n", "  Z,\n  A,\n"]],
    theirs: [["  C,\n", "  C,\n  D,\n"]],
  },
  {
    name: "an enum in which both sides take one number",
    base: "export enum E {\n  A = 1,\n  B = 2,\n}\n",
    ours: [["B = 2,\n", "B = 2,\n  C = 3,\n"]],
    theirs: [["B = 2,\n", "B = 2,\n  D = 3,\n"]],
  },
  {
    name: "both sides add a member to a union",
    base: 'export type U = "a" | "b";\nexport const x = 1;\n',
    ours: [['"a" | "b"', '"a" | "b" | "c"']],
    theirs: [['"a" | "b"', '"a" | "b" | "d"']],
    holds: ["m.x === 1"],
    once: ['"c"', '"d"', '"a"'],
  },
  {
    name: "both sides add a member to a union of many lines",
    base: 'export type U =\n  | "a"\n  | "b";\nexport const x = 1;\n',
    ours: [['| "b"', '| "b"\n  | "c"']],
    theirs: [['| "b"', '| "b"\n  | "d"']],
    holds: ["m.x === 1"],
    once: ['\n  | "c"', '\n  | "d"', '\n  | "a"'],
  },
  {
    name: "one side removes a union member, the other adds one",
    base: 'export type U = "a" | "b";\nexport const x = 1;\n',
    ours: [['"a" | "b"', '"a"']],
    theirs: [['"a" | "b"', '"a" | "b" | "d"']],
    holds: ["m.x === 1"],
    once: ['type U = "a" | "d";'],
  },
  {
    name: "both sides append to an array",
    base: 'export const a = [\n  "x",\n];\n',
    ours: [['"x",\n', '"x",\n  "y",\n']],
    theirs: [['"x",\n', '"x",\n  "z",\n']],
  },
  {
    name: "both sides add a case that ends",
    base: "export function f(x: string) {\n  switch (x) {\n    case 'a':\n      return 1;\n    default:\n      return 0;\n  }\n}\n",
    ours: [["return 1;\n", "return 1;\n    case 'b':\n      return 2;\n"]],
    theirs: [["return 1;\n", "return 1;\n    case 'c': {\n      return 3;\n    }\n"]],
    holds: ["m.f('a') === 1", "m.f('b') === 2", "m.f('c') === 3", "m.f('d') === 0"],
  },
  {
    name: "a case that falls through beside one the other side adds",
    base: "export function f(x: string) {\n  let n = 0;\n  switch (x) {\n    case 'a':\n      return 1;\n    default:\n      n = 7;\n  }\n  return n;\n}\n",
    ours: [["return 1;\n", "return 1;\n    case 'b':\n"]],
    theirs: [["return 1;\n", "return 1;\n    case 'c':\n      return 3;\n"]],
  },
  {
    name: "one case added twice",
    base: "export function f(x: string) {\n  switch (x) {\n    case 'a':\n      return 1;\n    default:\n      return 0;\n  }\n}\n",
    ours: [["return 1;\n", "return 1;\n    case 'b':\n      return 2;\n"]],
    theirs: [["return 1;\n", "return 1;\n    case 'b':\n      return 3;\n"]],
  },
  {
    name: "names taken out of a module by both sides",
    language: "javascript",
    base: 'const { sep } = require("node:path");\n\nexports.s = () => sep;\n',
    ours: [
      ["{ sep }", "{ sep, join }"],
      ["", "exports.j = () => join('a', 'b');\n"],
    ],
    theirs: [
      ["{ sep }", "{ sep, basename }"],
      ["() => sep", "() => sep + basename('/x/y')"],
    ],
    holds: ["m.s() === '/y'", "m.j() === 'a/b'"],
  },
  {
    name: "module.exports extended by both sides",
    language: "javascript",
    base: "const a = () => 1;\nconst b = () => 2;\nconst c = () => 3;\n\nmodule.exports = {\n  a,\n};\n",
    ours: [["  a,\n", "  a,\n  b,\n"]],
    theirs: [["  a,\n", "  a,\n  c,\n"]],
    holds: ["m.a() === 1", "m.b() === 2", "m.c() === 3"],
  },
];
