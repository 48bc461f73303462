import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { exactShellWord, quotedShellWord, shellWord } from "./shell-word.ts";

test("a shell passes every word on as it was written", () => {
  const printable = fc.string({ unit: fc.constantFrom(..."ab $`'\"\\;|&<>(){}*?~#!-=") });
  fc.assert(
    fc.property(printable, (text) => {
      const words = [shellWord, exactShellWord, quotedShellWord].map((quote) => quote(text)).join(" ");
      const { stdout } = spawnSync("/bin/sh", ["-c", `printf '[%s]' ${words}`], { encoding: "utf8" });
      expect(stdout).toBe(`[${text}]`.repeat(3));
    }),
    { numRuns: 60, examples: [['yes"; id; "'], ["$(id)"], ["it's"], [""], ["-n"]] },
  );
});

test("names, options, branches and ordinary paths stay bare", () => {
  for (const word of ["msg-7f3a", "overstory/a/b", "/p/my.repo/x_1", "git:attributes", "a@b"]) {
    expect([shellWord(word), exactShellWord(word)]).toEqual([word, word]);
  }
  expect([shellWord("--rules"), exactShellWord("--rules")]).toEqual(["'--rules'", "--rules"]);
  expect(quotedShellWord("done")).toBe("'done'");
});

test("what a person copies shows every character, what a shell is given has every character", () => {
  expect(shellWord("a\u001bb")).toBe("'a\\u{1b}b'");
  expect(exactShellWord("a\u001bb\n")).toBe("'a\u001bb\n'");
});
