import { expect, test } from "bun:test";
import { KnownValues } from "./known-values.ts";
import { literal, type ShellWord, type WordPart } from "./syntax.ts";

const using = (...parts: readonly WordPart[]): ShellWord => ({ ...literal("$x"), dynamic: true, parts });
const x = { variable: "x" };

function knowing(...values: readonly string[]): KnownValues {
  const known = new KnownValues("/tmp");
  known.take(values.map((text) => ({ name: "x", value: literal(text) })));
  return known;
}

const texts = (words: readonly ShellWord[]): readonly string[] => words.map(({ text }) => text);

test("a word becomes what its variables are known to be", () => {
  expect(texts(knowing("dist").resolve(using(x, "/a")))).toEqual(["dist/a"]);
  expect(texts(knowing("a.js", "b.js").resolve(using({ ...x, without: ".js" }, ".ts")))).toEqual(["a.ts", "b.ts"]);
  expect(texts(knowing("src/a.js").resolve(using("out/", { ...x, part: "last" })))).toEqual(["out/a.js"]);
  expect(knowing("*").resolve(using(x))).toMatchObject([{ text: "*", pattern: true }]);
});

test("a word with a variable that is not known stays as it is", () => {
  const word = using(x, { variable: "y" });
  expect(knowing("dist").resolve(word)).toEqual([word]);
  expect(knowing("two words").resolve(using(x))).toEqual([using(x)]);
  const known = knowing("dist");
  known.forget(["x"]);
  expect(known.resolve(using(x))).toEqual([using(x)]);
  known.take([{ name: "x", value: literal("a"), appends: true }]);
  expect(known.resolve(using(x))).toEqual([using(x)]);
});

test("nothing is known once names stand for other names", () => {
  const known = knowing("dist");
  known.lose();
  expect(known.resolve(using(x))).toEqual([using(x)]);
});
