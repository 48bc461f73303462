import { expect, test } from "bun:test";
import { LogLines, plainLine } from "../src/log/log-lines.ts";

const part = (seq: number, text: string) => ({ seq, text });
const texts = (log: LogLines, parts: ReturnType<typeof part>[]) => log.take(parts).lines.map(plainLine);

test("lines that come in parts are put together, and a part that is known is not read again", () => {
  const log = new LogLines();
  const first = part(4, "one\ntw");
  expect(texts(log, [first])).toEqual(["one", "tw"]);
  expect(texts(log, [first, part(9, "o\nthree\n")])).toEqual(["one", "two", "three"]);
  expect(texts(log, [part(2, "another\n")])).toEqual(["another"]);
});

test("a colour that is not switched off holds for the lines after it", () => {
  const log = new LogLines();
  const { lines } = log.take([part(1, "\u001b[31mred\nstill\u001b[0m\nplain\n")]);
  expect(lines.map(({ open }) => open)).toEqual(["", "\u001b[31m", ""]);
});

test("of very many lines the newest stay, and those that went are counted", () => {
  const log = new LogLines();
  const { lines, dropped } = log.take([part(1, `${"x\n".repeat(50_000)}last\n`)]);
  expect([lines.length, dropped, lines.at(-1)?.text]).toEqual([50_000, 1, "last"]);
});

test("a line that counts no failures is no error", () => {
  const errors = (...lines: string[]) =>
    new LogLines().take([part(1, `${lines.join("\n")}\n`)]).lines.map(({ isError }) => isError);
  expect(errors("error: x", "3 failed", "\u001b[31mFAIL\u001b[0m a")).toEqual([true, true, true]);
  expect(errors("0 failed", "no errors", "12 passed")).toEqual([false, false, false]);
});

test("five thousand lines a second are read within the second", () => {
  const log = new LogLines();
  const second = Array.from({ length: 20 }, (_, at) =>
    part(at + 1, "\u001b[32mok\u001b[0m a test of the store\n".repeat(250)),
  );
  log.take([part(0, "x\n".repeat(49_000)), ...second.slice(0, 1)]);
  const began = performance.now();
  for (let at = 2; at <= second.length; at++) log.take([part(0, ""), ...second.slice(0, at)]);
  expect(performance.now() - began).toBeLessThan(1000);
});
