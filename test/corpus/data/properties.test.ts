import { expect, test } from "bun:test";
import fc from "fast-check";
import { parse, stringify } from "yaml";
import { mergeJson, mergeYaml } from "../../../src/structured-merge/data/json-yaml.ts";
import type { MergeOutcome } from "../../../src/structured-merge/outcome.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const scalar = fc.oneof(fc.constantFrom<Json>(null, true, false, "", "a", "b c", "x: y", "#", "- z"), fc.integer());
const name = fc.constantFrom("a", "b", "c", "d", "e", "f", "g h", "1");
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(name, tie("tree"), { maxKeys: 5, noNullPrototype: true }),
  ),
}));
const file = fc.dictionary(name, tree, { minKeys: 1, maxKeys: 6, noNullPrototype: true });

interface Edit {
  readonly path: readonly number[];
  readonly what: "set" | "add" | "remove";
  readonly key: string;
  readonly value: Json;
}
const edit: fc.Arbitrary<Edit> = fc.record({
  path: fc.array(fc.nat(5), { maxLength: 3 }),
  what: fc.constantFrom("set", "add", "remove"),
  key: fc.constantFrom("n", "o", "p", "q"),
  value: tree,
});
const edits = fc.array(edit, { minLength: 1, maxLength: 3 });

/** The value with one thing changed somewhere inside its maps. */
function changed(value: Json, { path, what, key, value: fresh }: Edit): Json {
  if (!isMap(value)) return value;
  const keys = Object.keys(value);
  const [first, ...rest] = path;
  const at = first === undefined ? undefined : keys[first % Math.max(1, keys.length)];
  if (at !== undefined && rest.length > 0 && isMap(value[at])) {
    return { ...value, [at]: changed(value[at] ?? null, { path: rest, what, key, value: fresh }) };
  }
  if (what === "add" || at === undefined) return { ...value, [key]: fresh };
  if (what === "set") return { ...value, [at]: fresh };
  return Object.fromEntries(Object.entries(value).filter(([other]) => other !== at));
}

const isMap = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const same = (a: Json | undefined, b: Json | undefined): boolean =>
  (a === undefined) === (b === undefined) && Bun.deepEquals(a, b, true);

/** What the merge must say at the least: for every place under maps that only one side changed, that side's word. */
function respects(sides: Record<"base" | "ours" | "theirs" | "result", Json | undefined>): boolean {
  const { base, ours, theirs, result } = sides;
  if (same(base, theirs)) return same(result, ours);
  if (same(base, ours) || same(ours, theirs)) return same(result, theirs);
  if (isMap(ours) && isMap(theirs) && isMap(result)) {
    const before = isMap(base) ? base : {};
    const keys = new Set([before, ours, theirs, result].flatMap((map) => Object.keys(map)));
    return [...keys].every((key) =>
      respects({ base: before[key], ours: ours[key], theirs: theirs[key], result: result[key] }),
    );
  }
  return Array.isArray(result);
}

function hold(
  outcome: MergeOutcome,
  sides: Record<"base" | "ours" | "theirs", Json>,
  read: (text: string) => Json,
): void {
  if (outcome.kind === "refused") return;
  const result = read(outcome.content);
  expect({ ...sides, result, respected: respects({ ...sides, result }) }).toMatchObject({ respected: true });
}

const triple = fc.tuple(file, edits, edits).map(([base, mine, other]) => ({
  base,
  ours: mine.reduce<Json>(changed, base),
  theirs: other.reduce<Json>(changed, base),
}));

test("a merge of random JSON keeps what each side did, however it is written", () => {
  let mergedOnes = 0;
  fc.assert(
    fc.property(triple, fc.constantFrom(0, 2, 4), fc.constantFrom(2, 4), (sides, indent, other) => {
      const write = (value: Json, width: number): string => `${JSON.stringify(value, null, width)}\n`;
      const outcome = mergeJson(
        {
          base: write(sides.base, indent),
          ours: write(sides.ours, indent),
          theirs: write(sides.theirs, indent === 0 ? 0 : other),
        },
        "a.json",
      );
      if (outcome.kind === "merged") mergedOnes++;
      hold(outcome, sides, (text) => JSON.parse(text) as Json);
    }),
    { numRuns: 300 },
  );
  expect(mergedOnes).toBeGreaterThan(90);
});

test("a merge of random YAML keeps what each side did", () => {
  let mergedOnes = 0;
  fc.assert(
    fc.property(triple, fc.boolean(), (sides, flow) => {
      const write = (value: Json): string =>
        stringify(value, { lineWidth: 0, ...(flow ? { collectionStyle: "flow" as const } : {}) });
      const outcome = mergeYaml({ base: write(sides.base), ours: write(sides.ours), theirs: write(sides.theirs) });
      if (outcome.kind === "merged") mergedOnes++;
      hold(outcome, sides, (text) => parse(text) as Json);
    }),
    { numRuns: 120 },
  );
  expect(mergedOnes).toBeGreaterThan(15);
});

test("additions of the two sides with names of their own are always merged", () => {
  fc.assert(
    fc.property(file, tree, tree, (base, mine, other) => {
      const sides = { base, ours: { ...base, ours: mine }, theirs: { ...base, theirs: other } };
      const write = (value: Json): string => `${JSON.stringify(value, null, 2)}\n`;
      const json = mergeJson({ base: write(base), ours: write(sides.ours), theirs: write(sides.theirs) }, "a.json");
      const yaml = mergeYaml({ base: stringify(base), ours: stringify(sides.ours), theirs: stringify(sides.theirs) });
      expect(json.kind === "merged" ? JSON.parse(json.content) : json).toEqual({ ...base, ours: mine, theirs: other });
      expect(yaml.kind === "merged" ? parse(yaml.content) : yaml).toEqual({ ...base, ours: mine, theirs: other });
    }),
    { numRuns: 60 },
  );
});
