import { expect, test } from "bun:test";
import { edited, keyReader, keysOf } from "./keys.ts";

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

test("a paste is one text in however many parts it comes, and never the keys in it", () => {
  const whole = "j\x1b[200~q\rx\x1b[201~k";
  for (let cut = 1; cut < whole.length; cut++) {
    // An escape by itself is a key, and a mark that begins with it cannot be told from that.
    if (cut === 2 || cut === 3) continue;
    const read = keyReader();
    expect([...read(whole.slice(0, cut)), ...read(whole.slice(cut))]).toEqual(["j", "paste:q\rx", "k"]);
  }
  expect(edited("say ", "paste:one\r\ntwo\x1b[2J\n")).toBe("say one two\\u{1b}[2J");
  expect(keyReader()("\x1b[A\x1b")).toEqual(["up", "escape"]);
});
