import type { MergeCase } from "./case.ts";

const run = "export const log: unknown[] = [];\nexport function run(n = 1) {\n  log.push(n);\n}\n";

/** Triples made to be merged wrongly. */
export const traps: readonly MergeCase[] = [
  {
    name: "a new call meets a function that now needs a constant written behind it",
    base: run,
    ours: [["", "run();\n"]],
    theirs: [
      ["log.push(n)", "log.push(n * limit)"],
      ["", "const limit = 5;\n"],
    ],
    holds: ["m.log[0] === 5"],
  },
  {
    name: "a new call further up meets a function that now needs a constant further down",
    base: `${run}\nexport const other = 1;\n`,
    ours: [["export const other", "run();\n\nexport const other"]],
    theirs: [
      ["log.push(n)", "log.push(n * limit)"],
      ["", "const limit = 5;\n"],
    ],
  },
  {
    name: "a changed call stays behind the constant that the other side wrote before it",
    base: `${run}run();\n`,
    ours: [["run();\n", "run(2);\n"]],
    theirs: [
      ["log.push(n)", "log.push(n * limit)"],
      ["run();\n", "const limit = 5;\nrun();\n"],
    ],
    holds: ["m.log[0] === 10"],
  },
  {
    name: "a constant that reads what a removed statement did",
    base: "let total = 1;\ntotal = total + 1;\nexport const z = 0;\n",
    ours: [["total = total + 1;\n", ""]],
    theirs: [["total + 1;\n", "total + 1;\nexport const seen = total;\n"]],
  },
  {
    name: "two statements that would run together without a semicolon",
    language: "javascript",
    base: "const a = 1\nexports.a = a\n",
    ours: [["", "exports.b = 2\n"]],
    theirs: "const a = 1\nexports.a = a;\n(() => { exports.c = 3 })()\n",
  },
  {
    name: "a field without a semicolon before a computed one",
    base: "const k = 'k';\nexport class A {\n  x = 1;\n}\n",
    ours: [["  x = 1;\n", "  x = 1;\n  y = [1, 2]\n"]],
    theirs: [["  x = 1;\n", "  x = 1;\n  [k] = 0;\n"]],
  },
  {
    name: "a comment behind the last item of a list without a last comma",
    base: "export const o = {\n  a: 1 // one\n};\n",
    ours: [["a: 1 // one\n", "a: 1, // one\n  b: 2 // two\n"]],
    theirs: [["a: 1 // one\n", "a: 1, // one\n  c: 3 // three\n"]],
    holds: ["m.o.a === 1", "m.o.b === 2", "m.o.c === 3"],
    once: ["a: 1, // one\n", "// two\n", "// three\n"],
  },
  {
    name: "a spread moved by one side while the other adds a key",
    base: "const d = { b: 9 };\nexport const o = {\n  a: 1,\n  ...d,\n};\n",
    ours: "const d = { b: 9 };\nexport const o = {\n  ...d,\n  a: 1,\n};\n",
    theirs: [["a: 1,\n", "a: 1,\n  b: 2,\n"]],
  },
  {
    name: "a method made a property on one side and called anew on the other",
    language: "python",
    base: "class A:\n    def size(self):\n        return 1\n",
    ours: [["    def size", "    @property\n    def size"]],
    theirs: [["", "\n\ndef twice(a):\n    return a.size() * 2\n"]],
  },
  {
    name: "a constant exported in two ways",
    base: "const a = 1;\nconst b = 2;\nexport { b };\n",
    ours: [["const a", "export const a"]],
    theirs: [["{ b }", "{ a, b }"]],
  },
  {
    name: "a function turned into a constant on one side and called before it on the other",
    base: "export const log: number[] = [];\n\nexport function f() {\n  return 1;\n}\n",
    ours: [["export function f() {\n  return 1;\n}", "export const f = () => 1;"]],
    theirs: [["= [];\n", "= [];\nlog.push(f());\n"]],
  },
  {
    name: "an optional property made required on one side and a type parameter added on the other's new use",
    base: "export interface Box {\n  v: number;\n}\n",
    ours: [
      ["interface Box", "interface Box<T>"],
      ["v: number", "v: T"],
    ],
    theirs: [["", "\nexport const open = (b: Box) => b;\n"]],
  },
  {
    name: "a polyfill that must come first beside another import",
    base: 'import { a } from "./a.ts";\n\nexport const x = a;\n',
    ours: [["import { a }", 'import "./polyfill.ts";\nimport { a }']],
    theirs: [["import { a }", 'import { b } from "./b.ts";\nimport { a }']],
  },
  {
    name: "both sides rename one function alike and one of them changes it",
    base: "export function two() {\n  return 2;\n}\n\nexport const x = 1;\n",
    ours: [["function two", "function deux"]],
    theirs: [
      ["function two", "function deux"],
      ["return 2", "return 3"],
    ],
  },
  {
    name: "a class moved into another by one side and changed by the other",
    base: "export class A {\n  go() {\n    return 1;\n  }\n}\n\nexport class B {\n  stay() {\n    return 2;\n  }\n}\n",
    ours: "export class A {\n}\n\nexport class B {\n  stay() {\n    return 2;\n  }\n\n  go() {\n    return 1;\n  }\n}\n",
    theirs: [["return 1", "return 11"]],
  },
  {
    name: "a method moved to another class by one side and deleted by the other",
    base: "export class A {\n  go() {\n    return 1;\n  }\n\n  x() {}\n}\n\nexport class B {\n  stay() {\n    return 2;\n  }\n}\n",
    ours: "export class A {\n  x() {}\n}\n\nexport class B {\n  stay() {\n    return 2;\n  }\n\n  go() {\n    return 1;\n  }\n}\n",
    theirs: [["  go() {\n    return 1;\n  }\n\n", ""]],
  },
  {
    name: "a name rebound in Python around a statement that the other side replaced",
    language: "python",
    base: "class error(Exception):\n    pass\n\n\ntry:\n    raise error()\nexcept error:\n    seen = 1\n",
    ours: [
      ["    seen = 1\n", "    seen = 2\n"],
      ["    raise error()", "    raise error('x')"],
    ],
    theirs: [["\n\ntry", "\n\nerror = (error, OSError)\n\ntry"]],
  },
  {
    name: "one side sorts keys while the other changes one of them",
    base: "export const o = {\n  b: 2,\n  a: 1,\n};\n",
    ours: "export const o = {\n  a: 1,\n  b: 2,\n};\n",
    theirs: [["a: 1", "a: 11"]],
    holds: ["m.o.a === 11", "m.o.b === 2", "Object.keys(m.o).join('') === 'ab'"],
  },
  {
    name: "one side sorts the imports while the other adds one",
    base: 'import { sep } from "node:path";\nimport { EOL } from "node:os";\n\nexport const x = sep + EOL;\n',
    ours: 'import { EOL } from "node:os";\nimport { sep } from "node:path";\n\nexport const x = sep + EOL;\n',
    theirs: [
      ['"node:os";\n', '"node:os";\nimport { existsSync } from "node:fs";\n'],
      ["", "export const y = existsSync;\n"],
    ],
    holds: ["m.x === '/\\n'", "typeof m.y === 'function'"],
  },
  {
    name: "both sides delete the same function and add around it",
    base: "export const a = 1;\n\nfunction gone() {\n  return 0;\n}\n\nexport const b = 2;\n",
    ours: [["function gone() {\n  return 0;\n}\n", "export const c = 3;\n"]],
    theirs: [["function gone() {\n  return 0;\n}\n", "export const d = 4;\n"]],
    holds: ["m.a === 1", "m.b === 2", "m.c === 3", "m.d === 4"],
  },
  {
    name: "a file that begins with a blank line",
    language: "python",
    base: "\nimport os\n\nX = os.sep\n",
    ours: [["import os\n", "import os\nimport sys\n"]],
    theirs: [["import os\n", "import os\nimport json\n"]],
    holds: ["X == '/'", "sys is not None", "json is not None"],
  },
  {
    name: "a local of one side hides the outer name that the other side newly reads",
    base: "const rate = 2;\nexport function f(x: number) {\n  const a = x;\n  const b = a;\n  const c = b;\n  const d = c;\n  return d;\n}\n",
    ours: [["  const a = x;\n", "  const rate = 100;\n  const a = x + rate;\n"]],
    theirs: [["  return d;\n", "  return d * rate;\n"]],
  },
  {
    name: "both sides add an argument to one call",
    base: "export const f = (...xs: number[]) => xs.join('');\nexport const r = f(\n  1,\n  2,\n  3,\n);\n",
    ours: [["  1,\n", "  0,\n  1,\n"]],
    theirs: [["  3,\n", "  3,\n  4,\n"]],
    holds: ["m.r === '01234'"],
  },
  {
    name: "a statement duplicated by both sides at different places of a function",
    base: "export function f() {\n  const log: string[] = [];\n  log.push('a');\n  const x = 1;\n  const y = 2;\n  return { log, x, y };\n}\n",
    ours: [["  const x", "  check();\n  const x"]],
    theirs: [["  return {", "  check();\n  return {"]],
  },
  {
    name: "the key of an object removed by one side and newly read by the other",
    base: "export const config = {\n  host: 'h',\n  port: 1,\n};\n",
    ours: [["  port: 1,\n", "  socket: 's',\n"]],
    theirs: [["", "\nexport const address = () => config.host + config.port;\n"]],
  },
  {
    name: "an accessor replaced by a method on one side and read anew on the other",
    base: "export class A {\n  get n() {\n    return 1;\n  }\n}\n",
    ours: [["get n()", "n()"]],
    theirs: [["", "\nexport const twice = (a: A) => a.n * 2;\n"]],
  },
  {
    name: "an array that one side shifts and the other changes in place",
    base: "export const a = [{ x: 1 }, { y: 2 }];\n",
    ours: [["[{ x: 1 }, { y: 2 }]", "[{ y: 2 }, { w: 4 }]"]],
    theirs: [["{ x: 1 }", "{ x: 1, z: 3 }"]],
  },
  {
    name: "one property made optional by one side and given another type by the other",
    base: "export interface A {\n  id: string;\n}\n",
    ours: [["id: string", "id?: string"]],
    theirs: [["id: string", "id: number"]],
  },
  {
    name: "the return type changed by one side and the value returned by the other",
    base: "export function f(x: number): number {\n  const y = x;\n\n  return y;\n}\n",
    ours: [
      ["): number", "): string"],
      ["const y = x", "const y = String(x)"],
    ],
    theirs: [["return y;", "return Math.abs(x);"]],
  },
  {
    name: "a constant exported by one side and extended by the other",
    base: "const o = {\n  a: 1,\n};\n\nexport const get = () => o;\n",
    ours: [["const o", "export const o"]],
    theirs: [["a: 1,\n", "a: 1,\n  b: 2,\n"]],
    holds: ["m.o.b === 2", "m.get().a === 1"],
  },
];
