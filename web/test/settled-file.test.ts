import { expect, test } from "bun:test";
import { type ConflictFile, settledFile, type Take, taken } from "../src/pages/merge/settled-file.ts";

/** A file with one conflict between two lines. */
function fileWith(target: readonly string[], branch: readonly string[], end = ""): ConflictFile {
  const side = (lines: readonly string[]) => ({ line: 2, lines });
  return {
    path: "a.txt",
    endsWithLine: true,
    parts: [{ lines: [`first${end}`] }, { hunk: 0 }, { lines: [`last${end}`] }],
    hunks: [{ before: [], after: [], target: side(target), base: side([]), branch: side(branch) }],
  } as never;
}

const contentOf = (file: ConflictFile, take: Take) => settledFile(file, (_, hunk) => taken(hunk, take)).content;

test.each([[["a"]], [["a", ""]], [["", "a"]], [["a", "", ""]], [[""]], [["", ""]], [[]]] as const)(
  "a side that is taken keeps each of its lines: %j",
  (lines) => {
    const whole = (...between: readonly string[]) => `${["first", ...between, "last"].join("\n")}\n`;
    expect(contentOf(fileWith(lines, ["x"]), "target")).toBe(whole(...lines));
    expect(contentOf(fileWith(["x"], lines), "branch")).toBe(whole(...lines));
    expect(contentOf(fileWith(lines, lines), "both")).toBe(whole(...lines, ...lines));
    const returns = lines.map((line) => `${line}\r`);
    const file = fileWith(returns, ["x\r"], "\r");
    expect(contentOf(file, "target")).toBe(`${["first", ...lines, "last"].join("\r\n")}\r\n`);
  },
);

test("lines that a person wrote end as those of the file do, with or without the last line end", () => {
  for (const text of ["mine\nyours", "mine\nyours\n"]) {
    const written = () => ({ text, from: "you" }) as const;
    expect(settledFile(fileWith([], []), written).content).toBe("first\nmine\nyours\nlast\n");
    expect(settledFile(fileWith([], [], "\r"), written).content).toBe("first\r\nmine\r\nyours\r\nlast\r\n");
  }
});
