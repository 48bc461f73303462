import type { MergeCase } from "./case.ts";

const price = `export function price(net: number, rate: number) {
  const tax = net * rate;
  const shipping = 5;
  const gift = 0;
  const total = net + tax + shipping + gift;
  return total;
}
`;

/** Inside functions order is the program: distant independent edits only. */
export const bodies: readonly MergeCase[] = [
  {
    name: "distant, independent edits of one function",
    base: price,
    ours: [["shipping = 5", "shipping = 6"]],
    theirs: [["price(net: number, rate: number)", "price(net: number, rate: number, _note?: string)"]],
    holds: ["m.price(100, 0.1) === 116"],
  },
  {
    name: "both sides change one line",
    base: price,
    ours: [["shipping = 5", "shipping = 6"]],
    theirs: [["shipping = 5", "shipping = 7"]],
  },
  {
    name: "neighbouring lines of one function",
    base: price,
    ours: [["shipping = 5", "shipping = 6"]],
    theirs: [["gift = 0", "gift = 1"]],
  },
  {
    name: "one side changes a value that the other side's edit reads",
    base: price,
    ours: [["tax = net * rate", "tax = Math.round(net * rate)"]],
    theirs: [["return total;", "return total - tax;"]],
  },
  {
    name: "one side renames a local that the other side newly reads",
    base: price,
    ours: [
      ["const tax", "const duty"],
      ["net + tax", "net + duty"],
    ],
    theirs: [["return total;", "console.log(tax);\n  return total;"]],
  },
  {
    name: "one side renames a parameter that the other side newly reads",
    base: price,
    ours: [
      ["price(net: number", "price(amount: number"],
      ["tax = net *", "tax = amount *"],
      ["= net + tax", "= amount + tax"],
    ],
    theirs: [["shipping = 5", "shipping = net > 50 ? 0 : 5"]],
  },
  {
    name: "one side changes the type of a parameter that the other side newly reads",
    base: price,
    ours: [
      ["rate: number", "rate: string"],
      ["net * rate", "net * Number(rate)"],
    ],
    theirs: [["gift = 0", "gift = rate > 0 ? 1 : 0"]],
  },
  {
    name: "both sides add a parameter",
    base: price,
    ours: [["rate: number)", "rate: number, a = 1)"]],
    theirs: [["rate: number)", "rate: number, b = 2)"]],
  },
  {
    name: "both sides change the same property of an object through lines apart",
    base: "export function make() {\n  const o = { a: 0, b: 0 };\n  o.a = 1;\n  const x = 1;\n  const y = 2;\n  const z = 3;\n  return { o, x, y, z };\n}\n",
    ours: [["o.a = 1", "o.a = 2"]],
    theirs: [["z = 3;\n", "z = 3;\n  o.a += 5;\n"]],
  },
  {
    name: "both sides declare one new local, lines apart",
    base: price,
    ours: [["  const tax", "  const extra = 1;\n  const tax"]],
    theirs: [["  return total;", "  const extra = 2;\n  return total + extra;"]],
  },
  {
    name: "one side leaves early where the other side adds work",
    base: price,
    ours: [["  const tax", "  return 0;\n  const tax"]],
    theirs: [["gift = 0", "gift = 2"]],
  },
  {
    name: "both sides extend the object that a function returns",
    base: "export function make() {\n  const a = 1;\n  const b = 2;\n  const c = 3;\n  return { a };\n}\n",
    ours: [["{ a }", "{ a, b }"]],
    theirs: [["{ a }", "{ a, c }"]],
    holds: ["m.make().b === 2", "m.make().c === 3"],
  },
  {
    name: "both sides extend an object of many lines that a function returns",
    base: "export const make = () => ({\n  a: 1,\n});\n",
    ours: [["a: 1,\n", "a: 1,\n  b: 2,\n"]],
    theirs: [["a: 1,\n", "a: 1,\n  c: 3,\n"]],
    holds: ["m.make().b === 2", "m.make().c === 3"],
  },
  {
    name: "a function made asynchronous by one side and called anew by the other",
    base: "export function load() {\n  return 1;\n}\n",
    ours: [["export function load", "export async function load"]],
    theirs: [["", "\nexport const twice = () => load() * 2;\n"]],
  },
  {
    name: "a function with a new required parameter on one side and a new call on the other",
    base: "export function load(a: number) {\n  return a;\n}\n",
    ours: [
      ["load(a: number)", "load(a: number, b: number)"],
      ["return a", "return a + b"],
    ],
    theirs: [["", "\nexport const two = () => load(2);\n"]],
  },
  {
    name: "a function with a new optional parameter on one side and a new call on the other",
    base: "export function load(a: number) {\n  return a;\n}\n",
    ours: [
      ["load(a: number)", "load(a: number, b = 1)"],
      ["return a", "return a * b"],
    ],
    theirs: [["", "\nexport const two = () => load(2);\n"]],
    holds: ["m.two() === 2", "m.load(2, 3) === 6"],
  },
  {
    name: "a constructor with a new parameter on one side and a new maker on the other",
    base: "export class A {\n  constructor(readonly x: number) {}\n}\n",
    ours: [["readonly x: number", "readonly y: string, readonly x: number"]],
    theirs: [["", "\nexport const make = () => new A(1);\n"]],
  },
  {
    name: "a function removed on one side and called anew on the other",
    base: "export const a = 1;\n\nfunction help() {\n  return 1;\n}\n\nexport const b = () => help();\n",
    ours: [
      ["function help() {\n  return 1;\n}\n\n", ""],
      ["() => help()", "() => 1"],
    ],
    theirs: [["", "\nexport const c = () => help();\n"]],
  },
  {
    name: "a constant made changeable-free on one side and assigned anew on the other",
    base: "export let n = 1;\n\nexport function read() {\n  return n;\n}\n",
    ours: [["let n", "const n"]],
    theirs: [["", "\nexport function bump() {\n  n += 1;\n}\n"]],
  },
  {
    name: "an interface with a new required member on one side and a new implementer on the other",
    base: "export interface Shape {\n  area(): number;\n}\n",
    ours: [["area(): number;\n", "area(): number;\n  name: string;\n"]],
    theirs: [["", "\nexport class Dot implements Shape {\n  area() {\n    return 0;\n  }\n}\n"]],
  },
  {
    name: "a property whose type changed on one side and which is newly read on the other",
    base: "export interface User {\n  id: string;\n}\n",
    ours: [["id: string", "id: number"]],
    theirs: [["", "\nexport const short = (u: User) => u.id.slice(0, 3);\n"]],
  },
  {
    name: "a union member removed on one side and newly used on the other",
    base: 'export type State = "open" | "done";\n\nexport const a: State = "open";\n',
    ours: [['"open" | "done"', '"open"']],
    theirs: [["", 'export const b: State = "done";\n']],
  },
  {
    name: "a new top-level name on one side that would catch a global of the other",
    base: "export const a = 1;\n",
    ours: [["", "\nexport function structuredClone(x: unknown) {\n  return x;\n}\n"]],
    theirs: [["", "\nexport const copy = (x: unknown) => structuredClone(x);\n"]],
  },
  {
    name: "one side moves code that the other changes",
    base: "export function f() {\n  const a = 1;\n  const b = 2;\n  return a + b;\n}\n",
    ours: "function two() {\n  const b = 2;\n  return b;\n}\n\nexport function f() {\n  const a = 1;\n  return a + two();\n}\n",
    theirs: [["const b = 2", "const b = 3"]],
  },
];
