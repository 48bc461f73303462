import { expect, test } from "bun:test";
import { fit, openScreen } from "./screen.ts";

const recording = () => {
  const written: string[] = [];
  const screen = openScreen({ write: (text) => void written.push(text), size: () => ({ columns: 10, rows: 3 }) });
  return { written, screen };
};

test("only rows that changed are written", () => {
  const { written, screen } = recording();
  screen.draw(["one", "two", "three"]);
  screen.draw(["one", "TWO", "three"]);
  expect(written.at(-1)).toContain("\x1b[2;1H\x1b[KTWO");
  expect(written.at(-1)).not.toContain("one");
  const before = written.length;
  screen.draw(["one", "TWO", "three"]);
  expect(written).toHaveLength(before);
});

test("rows that are gone are cleared, and a forgotten screen is written whole", () => {
  const { written, screen } = recording();
  screen.draw(["one", "two"]);
  screen.draw(["one"]);
  expect(written.at(-1)).toContain("\x1b[2;1H\x1b[J");
  screen.forget();
  screen.draw(["one"]);
  expect(written.at(-1)).toContain("one");
});

test("nothing is cleared after a line that fills its row, where some terminals would clear the last column", () => {
  const { written, screen } = recording();
  screen.draw(["0123456789"]);
  const [, after] = written.at(-1)?.split("0123456789") ?? [];
  expect(after).toBeDefined();
  expect(after).not.toContain("\x1b[K");
});

test("the terminal is given back once, and a frame that comes after that is not written", () => {
  const { written, screen } = recording();
  screen.draw(["one"]);
  screen.close();
  screen.close();
  screen.forget();
  screen.draw(["late"]);
  expect(written.at(-1)).toContain("\x1b[?1049l");
  expect(written.filter((text) => text.includes("\x1b[?1049l"))).toHaveLength(1);
});

test("a line fits its width, also with wide characters and colours", () => {
  expect(fit("abc", 5)).toBe("abc  ");
  expect(fit("abcdef", 4)).toBe("abc…");
  expect(Bun.stringWidth(fit("漢字漢字", 5))).toBe(5);
  expect(Bun.stringWidth(fit("\x1b[31mabcdef\x1b[39m", 4))).toBe(4);
});
