import { expect, test } from "bun:test";
import { keysOf } from "./keys.ts";

test("letters, arrows and control keys have names", () => {
  expect(keysOf("j\x1b[A\x1bOB\r\x7f\x03")).toEqual(["j", "up", "down", "enter", "backspace", "ctrl-c"]);
});

test("a sequence that is not known writes no letters", () => {
  expect(keysOf("\x1b[200~a\x1b[1;5Cq")).toEqual(["a", "q"]);
});

test("escape alone is a key, and characters beyond the first plane stay whole", () => {
  expect(keysOf("\x1b")).toEqual(["escape"]);
  expect(keysOf("é漢🙂")).toEqual(["é", "漢", "🙂"]);
});
