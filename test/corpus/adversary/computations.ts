import type { Triple } from "./triple.ts";

const order = `export function settle(items: number[]) {\n  const total = items.reduce((a, b) => a + b, 0);\n  const tax = total * 0.2;\n  const label = "order";\n  return { total, tax, label };\n}\n`;
export const computations: readonly Triple[] = [
  {
    name: "rate changed, result gets a field",
    path: "x.ts",
    verdict: "merge",
    base: order,
    ours: [[`0.2`, `0.25`]],
    theirs: [[`{ total, tax, label }`, `{ total, tax, label, currency: "EUR" }`]],
    holds: ["m.settle([100]).tax === 25 && m.settle([1]).currency === 'EUR'"],
  },
  {
    name: "unit changed at both ends",
    path: "x.ts",
    verdict: "refuse",
    base: `export function wait(sleep: (n: number) => number) {\n  const ms = 5;\n  const a = 1;\n  const b = 2;\n  return sleep(ms);\n}\n`,
    ours: [[`ms = 5`, `ms = 5000`]],
    theirs: [[`sleep(ms)`, `sleep(ms * 1000)`]],
  },
  {
    name: "same accumulations, both scaled",
    path: "x.ts",
    verdict: "refuse",
    base: order,
    ours: [[`total * 0.2`, `total * 0.2 * 100`]],
    theirs: [[`{ total, tax, label }`, `{ total, tax: tax * 100, label }`]],
  },
  {
    name: "argument added while value computed changes",
    path: "x.py",
    verdict: "merge",
    base: `def f(g, x):\n    y = x + 1\n    z = 2\n    w = 3\n    return g(y, z)\n`,
    ours: [[`y = x + 1`, `y = x + 2`]],
    theirs: [[`return g(y, z)`, `return g(y, z, log=True)`]],
    holds: ["f(lambda a, b, log=False: (a, b, log), 1) == (3, 2, True)"],
  },
  {
    name: "condition adds name the other changes",
    path: "x.py",
    verdict: "refuse",
    base: `def f(x):\n    y = x + 1\n    z = 2\n    w = 3\n    if z:\n        return w\n    return 0\n`,
    ours: [[`y = x + 1`, `y = x - 1`]],
    theirs: [[`    if z:`, `    if z and y > 1:`]],
  },
];
