import { expect, test } from "bun:test";
import fc from "fast-check";
import { mergeCode } from "../../../src/structured-merge/code/merge-code.ts";
import type { Language } from "../../../src/structured-merge/file-format.ts";

/** A program as an ordered list of keyed parts; `value` is what an edit changes. */
interface Part {
  readonly key: string;
  readonly value: number;
}

type Edit =
  | { readonly kind: "add"; readonly at: number; readonly key: number; readonly value: number }
  | { readonly kind: "change"; readonly at: number; readonly value: number }
  | { readonly kind: "remove"; readonly at: number }
  | { readonly kind: "swap"; readonly at: number };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("add" as const), at: fc.nat(9), key: fc.nat(30), value: fc.nat(3) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("change" as const), at: fc.nat(9), value: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("swap" as const), at: fc.nat(9) }) },
);
const triple = fc.record({
  base: fc.uniqueArray(fc.nat(30), { minLength: 1, maxLength: 6 }),
  /** What both sides did alike, before each did more. */
  both: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(edit, { maxLength: 2 }) }),
  ours: fc.array(edit, { minLength: 1, maxLength: 3 }),
  theirs: fc.array(edit, { minLength: 1, maxLength: 3 }),
});

/** Triples that were once merged wrongly, or merged with the one side as ours and refused with the other. */
const pinned: [{ base: number[]; both: Edit[]; ours: Edit[]; theirs: Edit[] }][] = [
  // Both swap alike, and one adds a part.
  [{ base: [0, 1, 2], both: [{ kind: "swap", at: 1 }], ours: [add(0, 3)], theirs: [] }],
  // Both add a part, one before and the other behind what only one of them changed.
  [{ base: [0], both: [], ours: [{ kind: "change", at: 0, value: 0 }, add(1, 4)], theirs: [add(0, 4)] }],
  [{ base: [0], both: [], ours: [add(1, 2)], theirs: [{ kind: "change", at: 0, value: 0 }, add(0, 2)] }],
  [{ base: [1], both: [], ours: [{ kind: "change", at: 0, value: 0 }, add(0, 0)], theirs: [add(1, 0)] }],
  // One moves a part, edited or not, past the place where the other adds one.
  [{ base: [0, 2, 3, 25], both: [], ours: [add(1, 1)], theirs: [{ kind: "remove", at: 3 }, add(0, 25)] }],
  [
    {
      base: [0, 2, 3, 26],
      both: [],
      ours: [add(1, 1)],
      theirs: [{ kind: "remove", at: 3 }, add(0, 26), { kind: "remove", at: 3 }],
    },
  ],
  [{ base: [0, 2, 3], both: [], ours: [add(1, 1)], theirs: [1, 0].map((at) => ({ kind: "swap", at })) }],
  // The same, and at its old place stands something new that could be taken for it.
  [{ base: [0, 1, 2, 20], both: [], ours: [add(1, 3)], theirs: [{ kind: "remove", at: 3 }, add(3, 4), add(0, 20)] }],
];

function add(at: number, key: number): Edit {
  return { kind: "add", at, key, value: 0 };
}

function edited(parts: readonly Part[], edits: readonly Edit[]): Part[] {
  const out = [...parts];
  for (const one of edits) {
    const at = one.at % (out.length + 1);
    const here = out[at];
    if (one.kind === "add" && !out.some(({ key }) => key === `k${one.key}`))
      out.splice(at, 0, { key: `k${one.key}`, value: 10 + one.value });
    else if (one.kind === "change" && here !== undefined) out[at] = { ...here, value: 20 + one.value };
    else if (one.kind === "remove" && out.length > 1) out.splice(at, 1);
    else if (one.kind === "swap" && here !== undefined) {
      const next = out[at + 1];
      if (next !== undefined) out.splice(at, 2, next, here);
    }
  }
  return out;
}

/** What each key must come to; undefined where the two sides contradict each other. */
function predicted(
  base: readonly Part[],
  ours: readonly Part[],
  theirs: readonly Part[],
): Map<string, number> | undefined {
  const [b, o, t] = [base, ours, theirs].map((parts) => new Map(parts.map(({ key, value }) => [key, value])));
  const out = new Map<string, number>();
  for (const key of new Set([...(o?.keys() ?? []), ...(t?.keys() ?? []), ...(b?.keys() ?? [])])) {
    const [was, left, right] = [b?.get(key), o?.get(key), t?.get(key)];
    const settled = left === right || right === was ? left : left === was ? right : "conflict";
    if (settled === "conflict") return undefined;
    if (settled !== undefined) out.set(key, settled);
  }
  return out;
}

/** One way to write a list of parts as code, and to find the parts in code again. */
interface Writing {
  readonly name: string;
  readonly language: Language;
  readonly write: (parts: readonly Part[]) => string;
  readonly part: RegExp;
  /** The order of the parts is part of what they mean. */
  readonly ordered?: boolean;
  /** A part has no value, so it cannot be changed. */
  readonly bare?: boolean;
}

const lines = (parts: readonly Part[], write: (part: Part) => string) => parts.map(write).join("");
const writings: readonly Writing[] = [
  {
    name: "functions of a file",
    language: "typescript",
    write: (parts) => lines(parts, ({ key, value }) => `export function ${key}() {\n  return ${value};\n}\n\n`),
    part: /export function (k\d+)\(\) \{\n {2}return (\d+);\n\}\n/g,
  },
  {
    name: "methods of a class",
    language: "typescript",
    write: (parts) => `class C {\n${lines(parts, ({ key, value }) => `  ${key}() {\n    return ${value};\n  }\n`)}}\n`,
    part: / {2}(k\d+)\(\) \{\n {4}return (\d+);\n {2}\}\n/g,
  },
  {
    name: "keys of an object without a last comma",
    language: "javascript",
    write: (parts) => `const o = {\n${parts.map(({ key, value }) => `  ${key}: () => ${value}`).join(",\n")}\n};\n`,
    part: /(k\d+): \(\) => (\d+)/g,
  },
  {
    name: "keys of an object on one line",
    language: "javascript",
    write: (parts) => `const o = { ${parts.map(({ key, value }) => `${key}: f${value}`).join(", ")} };\n`,
    part: /(k\d+): f(\d+)/g,
  },
  {
    name: "members of an interface",
    language: "typescript",
    write: (parts) => `interface I {\n${lines(parts, ({ key, value }) => `  ${key}: T${value};\n`)}}\n`,
    part: /(k\d+): T(\d+);\n/g,
  },
  {
    name: "names of an import",
    language: "typescript",
    write: (parts) => `import { ${parts.map(({ key }) => `${key}`).join(", ")} } from "./m.ts";\n`,
    part: /(k\d+)(?=[, ])()/g,
    bare: true,
  },
  {
    name: "imports of a file",
    language: "typescript",
    write: (parts) => lines(parts, ({ key, value }) => `import { x${value} as ${key} } from "./${key}.ts";\n`),
    part: /import \{ x(?<value>\d+) as (?<key>k\d+) \}/g,
  },
  {
    name: "members of a union",
    language: "typescript",
    write: (parts) => `type U = ${parts.map(({ key }) => `"${key}"`).join(" | ")};\n`,
    part: /"(k\d+)"()/g,
    bare: true,
  },
  {
    name: "functions of a Python module",
    language: "python",
    write: (parts) => lines(parts, ({ key, value }) => `def ${key}():\n    return ${value}\n\n\n`),
    part: /def (k\d+)\(\):\n {4}return (\d+)\n/g,
  },
  {
    name: "methods of a Python class",
    language: "python",
    write: (parts) =>
      `class C:\n${lines(parts, ({ key, value }) => `    def ${key}(self):\n        return ${value}\n\n`)}\n\nX = 1\n`,
    part: / {4}def (k\d+)\(self\):\n {8}return (\d+)\n/g,
  },
  {
    name: "keys of a Python dictionary",
    language: "python",
    write: (parts) => `D = {\n${lines(parts, ({ key, value }) => `    "${key}": v${value},\n`)}}\n`,
    part: /"(k\d+)": v(\d+)/g,
  },
  {
    name: "calls of a file",
    language: "javascript",
    write: (parts) => lines(parts, ({ key, value }) => `use("${key}", ${value});\n`),
    part: /use\("(k\d+)", (\d+)\);\n/g,
    ordered: true,
  },
  {
    name: "statements of a function",
    language: "javascript",
    write: (parts) => `function f() {\n${lines(parts, ({ key, value }) => `  use("${key}", ${value});\n`)}}\n`,
    part: /use\("(k\d+)", (\d+)\);\n/g,
    ordered: true,
  },
  {
    name: "elements of an array",
    language: "javascript",
    write: (parts) => `const a = [\n${lines(parts, ({ key, value }) => `  ["${key}", ${value}],\n`)}];\n`,
    part: /\["(k\d+)", (\d+)\],\n/g,
    ordered: true,
  },
];

for (const writing of writings) {
  test(`${writing.name}: what merges is what both sides meant, whichever side is ours`, async () => {
    let merged = 0;
    await fc.assert(
      fc.asyncProperty(triple, async ({ base: keys, both, ours, theirs }) => {
        const base = keys.map((key): Part => ({ key: `k${key}`, value: 1 }));
        const bare = (edits: readonly Edit[]) => edits.filter(({ kind }) => writing.bare !== true || kind !== "change");
        const [left, right] = [ours, theirs]
          .map((own) => edited(base, bare([...both, ...own])))
          .map((parts) => parts.map((part) => settledValue(part, writing, keys)));
        if (left === undefined || right === undefined) return;
        const texts = { base: writing.write(base), ours: writing.write(left), theirs: writing.write(right) };
        const result = await mergeCode({ language: writing.language, ...texts });
        const mirror = await mergeCode({
          language: writing.language,
          base: texts.base,
          ours: texts.theirs,
          theirs: texts.ours,
        });
        expect(mirror.kind).toBe(result.kind);
        if (result.kind === "refused" || mirror.kind === "refused") return;
        merged++;
        const wanted = predicted(base, left, right);
        for (const { content } of [result, mirror]) {
          const found = partsIn(content, writing);
          expect(found.map(({ key }) => key).toSorted()).toEqual(
            [...(wanted?.keys() ?? ["a contradiction"])].toSorted(),
          );
          for (const { key, value } of found) if (writing.bare !== true) expect(value).toBe(wanted?.get(key) ?? -1);
          if (writing.ordered)
            for (const side of [left, right]) expectOrder(found, { base, side, other: side === left ? right : left });
        }
      }),
      { numRuns: Number(process.env.RUNS ?? 120), examples: pinned },
    );
    expect(merged).toBeGreaterThan(5);
  });
}

/** A statement is known by its whole text, so in a sequence two sides that add one key add one text. */
function settledValue(part: Part, { bare, ordered }: Writing, old: readonly number[]): Part {
  if (bare === true) return { ...part, value: 1 };
  return ordered === true && !old.some((key) => part.key === `k${key}`) ? { ...part, value: 10 } : part;
}

function partsIn(text: string, { part }: Writing): Part[] {
  return [...text.matchAll(part)].map((match) => ({
    key: match.groups?.key ?? match[1] ?? "",
    value: Number(match.groups?.value ?? match[2] ?? 1),
  }));
}

/** Parts keep the order of a side unless the other side moved them. */
function expectOrder(
  found: readonly Part[],
  { base, side, other }: { base: Part[]; side: readonly Part[]; other: readonly Part[] },
): void {
  const at = (parts: readonly Part[], key: string) => parts.findIndex((part) => part.key === key);
  const before = (parts: readonly Part[], one: string, two: string) => at(parts, one) < at(parts, two);
  const has = (parts: readonly Part[], ...keys: string[]) => keys.every((key) => at(parts, key) !== -1);
  for (const [index, { key: one }] of side.entries()) {
    for (const { key: two } of side.slice(index + 1)) {
      if (!has(found, one, two)) continue;
      const moved = has(base, one, two) && has(other, one, two) && before(base, one, two) !== before(other, one, two);
      if (!moved) expect(before(found, one, two)).toBe(true);
    }
  }
}
