import { expect, test } from "bun:test";
import { forPayload, namedIn } from "./long-list.ts";

const files = (count: number, length = 8): string[] =>
  Array.from({ length: count }, (_, at) => `${at}`.padStart(length, "0"));

test("a short list is named whole", () => {
  expect(namedIn([])).toBe("");
  expect(namedIn(["a.ts", "b.ts"])).toBe("a.ts, b.ts");
  expect(forPayload(["a.ts"])).toEqual({ shown: ["a.ts"], left: 0 });
  expect(forPayload(files(200)).left).toBe(0);
});

test("of a long list the beginning is named, and the rest is counted", () => {
  expect(namedIn(files(31))).toEndWith("00000029, and 1 more");
  expect(forPayload(files(3000))).toEqual({ shown: files(3000).slice(0, 200), left: 2800 });
});

test("long names leave room for fewer of them, in bytes as they are stored", () => {
  const { shown, left } = forPayload(files(200, 1000).map((name) => `${name}ä\n`));
  expect(shown).toHaveLength(16);
  expect(left).toBe(184);
  expect(namedIn(["a".repeat(5000), "b"])).toBe("and 2 more");
});
