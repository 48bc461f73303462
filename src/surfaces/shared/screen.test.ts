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
  expect(written.at(-1)).toContain("\x1b[2;1HTWO");
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

test("the terminal is given back once", () => {
  const { written, screen } = recording();
  screen.close();
  screen.close();
  expect(written.filter((text) => text.includes("\x1b[?1049l"))).toHaveLength(1);
});

test("a line fits its width, also with wide characters and colours", () => {
  expect(fit("abc", 5)).toBe("abc  ");
  expect(fit("abcdef", 4)).toBe("abc…");
  expect(Bun.stringWidth(fit("漢字漢字", 5))).toBe(5);
  expect(Bun.stringWidth(fit("\x1b[31mabcdef\x1b[39m", 4))).toBe(4);
});
