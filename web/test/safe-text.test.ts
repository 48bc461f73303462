import { expect, test } from "bun:test";
import { hasHidden, nestsWithoutEnd, safeTarget, withHidden, withTurns } from "../src/ui/safe-text.ts";

test("links lead to the web, to mail and to pages of ours; all others are only words", () => {
  expect(safeTarget("https://example.org/a?b#c")).toBe("https://example.org/a?b#c");
  expect(safeTarget("mailto:a@example.org")).toBe("mailto:a@example.org");
  expect(safeTarget("/tasks?task=T1")).toBe("/tasks?task=T1");
  for (const href of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "other.md",
    "http://[",
  ])
    expect([href, safeTarget(href)]).toEqual([href, undefined]);
  // Paths that a browser would take for another host stay addresses of the web, and never become paths of ours.
  for (const href of ["//evil.example", "/\\evil.example"]) expect(safeTarget(href)).toBe("http://evil.example/");
});

test("quotes without end are not read as Markdown", () => {
  expect(nestsWithoutEnd(">".repeat(20_000))).toBe(true);
  expect(nestsWithoutEnd("> ".repeat(41))).toBe(true);
  expect(nestsWithoutEnd("> a quote\n>> of a quote\na -> b => c")).toBe(false);
});

test("characters that cannot be seen, or that turn text around, are written out", () => {
  expect(withHidden("a\u202egpj.exe\u2066\u0007\tb")).toBe("a\\u{202e}gpj.exe\\u{2066}\\u{7}\tb");
  expect([hasHidden("a\tb ü 語"), hasHidden("\u200fa")]).toEqual([false, true]);
});

test("words keep their lines and their joiners; what turns them around is written out", () => {
  expect(withTurns("git commit -m 'x \u202e'; rm\n\u001b[31mred")).toBe(
    "git commit -m 'x \\u{202e}'; rm\n\\u{1b}[31mred",
  );
  for (const words of ["👩\u200d💻 می\u200cخواهم", "a\tb\u00adc"]) expect(withTurns(words)).toBe(words);
});
