import { expect, test } from "bun:test";
import { LastWords, reasonWith, shownWords, tells } from "./program-words.ts";

test("a line of words is shown, and a very long one by its beginning", () => {
  expect(shownWords("warning: your key ends tomorrow\r")).toBe("warning: your key ends tomorrow");
  expect(shownWords("a b ".repeat(1000))).toHaveLength(501);
});

test("a line that may be a part of a key is not shown", () => {
  expect(shownWords("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj")).toBe("");
});

test("the newest lines are kept, without those that have no letter", () => {
  const words = new LastWords();
  for (let at = 0; at < 30; at++) for (const line of [`line ${at}`, "{", "[]", ""]) words.add(line);
  expect(words.text.split("\n")).toEqual(Array.from({ length: 20 }, (_, at) => `line ${at + 10}`));
});

test("a reason has what the program wrote once", () => {
  expect(reasonWith("it exited with 1", "", " ")).toBe("it exited with 1");
  expect(reasonWith("it exited with 1", "no key", "Log in.")).toBe("it exited with 1: no key\nLog in.");
  expect(reasonWith("it exited with 1: no key", "no key")).toBe("it exited with 1: no key");
  expect(reasonWith("", "no key")).toBe("no key");
});

test("what a reason tells is known also where it was cut", () => {
  const written = "x y ".repeat(1000);
  expect(tells(reasonWith("it failed", written), written)).toBe(true);
  expect(tells("it failed", written)).toBe(false);
  expect(tells("", "")).toBe(true);
});
