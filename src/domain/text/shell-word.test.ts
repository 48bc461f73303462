import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { shellWord } from "./shell-word.ts";

test("a shell passes on what was written, whatever it looks like", () => {
  const printable = fc.string({ unit: fc.constantFrom(..."ab $`'\"\\;|&<>(){}*?~#!-=") });
  fc.assert(
    fc.property(printable, (text) => {
      const { stdout } = spawnSync("/bin/sh", ["-c", `printf %s ${shellWord(text)}`], { encoding: "utf8" });
      expect(stdout).toBe(text);
    }),
    { numRuns: 60, examples: [['yes"; id; "'], ["$(id)"], ["it's"], [""], ["-n"]] },
  );
});

test("a plain word stays bare", () => {
  expect(shellWord("msg-7f3a")).toBe("msg-7f3a");
});
