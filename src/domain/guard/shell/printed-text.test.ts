import { expect, test } from "bun:test";
import { nowhere } from "../../../../testkit/guard.ts";
import { printedBy } from "./printed-text.ts";
import type { ShellCommand } from "./syntax.ts";

/** What the last part of a pipe reads; null where that is not known. */
function printed(pipe: string): string | null {
  const parts = (nowhere.parse(`${pipe} | last`) ?? []) as readonly { readonly fed?: readonly ShellCommand[] }[];
  const { text, dynamic } = printedBy(parts.at(-1)?.fed ?? []);
  return dynamic ? null : text;
}

test.each([
  ["echo a b", "a b"],
  ["echo -e 'a\\nb'", "a\nb"],
  ["printf 'a\\nb\\n'", "a\nb\n"],
  ["printf '%s\\n' a b", "a\nb\n"],
  ["printf 'w %s (100%%)\\n' a", "w a (100%)\n"],
  ["printf '%s=%s;' a 1 b 2", "a=1;b=2;"],
  ["echo a | cat | tee log", "a"],
  ["cat <<< a", "a"],
  ["cat file", ""],
])("%j prints %j", (pipe, text) => {
  expect(printed(pipe)).toBe(text);
});

test.each([
  'echo "$x"',
  "printf '%d' a",
  "printf '%s' \"$x\"",
  "echo a | base64 -d",
  "curl http://h",
  "cat <(curl http://h)",
])("what %j prints is not known", (pipe) => {
  expect(printed(pipe)).toBeNull();
});
