import { expect, test } from "bun:test";
import fc from "fast-check";
import { matchesGlob } from "./glob.ts";

const covered: readonly (readonly [file: string, entry: string])[] = [
  ["src/a.ts", "src/a.ts"],
  ["src/a.ts", "src/*.ts"],
  ["src/a.ts", "src/?.ts"],
  ["src/deep/er/a.ts", "src/**"],
  ["src/a.ts", "src/**/*.ts"],
  ["src/x/y/a.ts", "src/**/*.ts"],
  ["src/a.test.ts", "src/*.{test,spec}.ts"],
  ["src/b.ts", "src/[abc].ts"],
  ["src/d.ts", "src/[!abc].ts"],
  ["docs/guide/x.md", "docs/"],
  ["src/a+b (1).ts", "src/a+b (1).ts"],
  ["src/[slug]/page.tsx", "src/[slug]/page.tsx"],
  ["src/{draft.ts", "src/{draft.ts"],
  ["src/[z-a].ts", "src/[z-a].ts"],
];

const uncovered: readonly (readonly [file: string, entry: string])[] = [
  ["src/a.ts", "src"],
  ["src/a.ts", "src/b.ts"],
  ["src/x/a.ts", "src/*.ts"],
  ["src/aXts", "src/a.ts"],
  ["src/a.tsx", "src/*.ts"],
  ["other/src/a.ts", "src/**"],
  ["src/a.ts", "src/[!abc].ts"],
  ["src/{draftXts", "src/{draft.ts"],
];

test("a path matches a pattern that is its name or describes it", () => {
  for (const [file, entry] of covered) expect([file, entry, matchesGlob(file, entry)]).toEqual([file, entry, true]);
  for (const [file, entry] of uncovered) expect([file, entry, matchesGlob(file, entry)]).toEqual([file, entry, false]);
});

test("every path matches itself, whatever characters it has, and no entry can break the check", () => {
  fc.assert(fc.property(fc.string(), (path) => expect(matchesGlob(path, path)).toBe(true)));
  fc.assert(fc.property(fc.string(), fc.string(), (path, entry) => void matchesGlob(path, entry)));
});

test("the time does not depend on how many ways lead through a pattern", () => {
  const name = "a".repeat(4_000);
  for (const pattern of [`${"*a".repeat(200)}[b]`, `${"**/".repeat(200)}[b]`, `${"{a,*}".repeat(200)}[b]`]) {
    expect(matchesGlob(name, pattern)).toBe(false);
  }
});

/** The same rules as a regular expression, for patterns that are short enough for one. */
function asExpression(pattern: string): RegExp {
  const source = pattern.replaceAll(/\*\*\/|\*\*|\*|\?|\[!?[^\]]+\]|[{},]|[^*?[{},]/gu, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.startsWith("[!")) return `[^/${part.slice(2)}`;
    if (part.startsWith("[")) return part;
    return { "{": "(?:", "}": ")", ",": "|" }[part] ?? RegExp.escape(part);
  });
  return new RegExp(`^${source}$`, "u");
}

test("patterns mean what the same regular expression means", () => {
  const part = fc.constantFrom(
    "a",
    "b",
    "/",
    "*",
    "**",
    "**/",
    "?",
    "{a,b}",
    "{a,{b,*}}",
    "[ab]",
    "[!a]",
    "[a-c]",
    ".",
    "\u{1f600}",
  );
  const pattern = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(""));
  const path = fc.string({ unit: fc.constantFrom("a", "b", "c", "/", ".", "\u{1f600}"), maxLength: 8 });
  fc.assert(
    fc.property(path, pattern, (file, entry) => {
      const whole = entry.endsWith("/") ? `${entry}**` : entry;
      expect(matchesGlob(file, entry)).toBe(file === entry || asExpression(whole).test(file));
    }),
    { numRuns: 2_000 },
  );
});
