import { expect, test } from "bun:test";
import fc from "fast-check";
import { withoutMentions } from "./runtime.ts";

test("no word of a prompt starts with @ any more, and the model is told why", () => {
  const safe = withoutMentions('| see @/etc/passwd and @"my file"\n@src/a.ts。@b、@c @@d');
  expect(safe).toStartWith('| see \\@/etc/passwd and \\@"my file"\n\\@src/a.ts。\\@b、\\@c \\@@d\n\n');
  expect(safe).toContain("a backslash before an at sign was put there on the way");
});

test("what no version takes for a mention stays as it is", () => {
  for (const prompt of ["write to a@example.org", "git@host:a.git", "x @ y", "nothing here", "\\@here"]) {
    expect(withoutMentions(prompt)).toBe(prompt);
  }
});

test("whatever is written, an @ stands only behind something that keeps it from being one", () => {
  const pieces = fc.array(
    fc.constantFrom("@", "@", "\\", " ", "\n", "|", "a", "/", '"', "。", "\u3000", "\ufeff", "漢"),
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      expect(withoutMentions(parts.join(""))).not.toMatch(/(?:^|[^A-Za-z0-9_@\\])@\S/);
    }),
  );
});
