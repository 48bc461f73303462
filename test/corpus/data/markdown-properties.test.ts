import { expect, test } from "bun:test";
import fc from "fast-check";
import { mergeMarkdown } from "../../../src/structured-merge/data/markdown.ts";

/** Title and paragraphs, in the order of the file. */
type Page = readonly (readonly [title: string, body: string])[];

const words = fc.constantFrom("alpha", "beta", "- item", "- other", "| a | b |", "```\n# no heading\n```", "end.");
const body = fc.array(words, { maxLength: 3 }).map((parts) => parts.join("\n\n"));
const title = fc.constantFrom("A", "B", "C", "D", "E");
const page: fc.Arbitrary<Page> = fc.uniqueArray(fc.tuple(title, body), { minLength: 1, selector: ([name]) => name });

interface Edit {
  readonly what: "rewrite" | "append" | "add" | "remove";
  readonly at: number;
  readonly text: string;
  readonly name: string;
}
const edit: fc.Arbitrary<Edit> = fc.record({
  what: fc.constantFrom("rewrite", "append", "add", "remove"),
  at: fc.nat(5),
  text: fc.constantFrom("new one", "new two", "- new item", "- newer item", "| c | d |"),
  name: fc.constantFrom("N", "O", "P"),
});

function changed(before: Page, { what, at, text, name }: Edit): Page {
  const place = at % Math.max(1, before.length);
  const fresh = before.some(([other]) => other === name) ? [] : [[name, text] as const];
  if (what === "add" || before.length === 0) return [...before.slice(0, place), ...fresh, ...before.slice(place)];
  if (what === "remove") return before.filter((_, index) => index !== place);
  return before.map((section, index) => {
    if (index !== place) return section;
    return [section[0], what === "rewrite" ? text : `${section[1]}\n${text}`.trim()];
  });
}

const written = (sections: Page): string =>
  `# Top\n\n${sections.map(([name, text]) => `## ${name}\n\n${text}${text === "" ? "" : "\n\n"}`).join("")}`
    .trimEnd()
    .concat("\n");

function read(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let current = "";
  let fenced = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) fenced = !fenced;
    const heading = fenced ? null : /^## (.*)$/.exec(line);
    if (heading !== null) {
      current = heading[1] ?? "";
      expect(found.has(current)).toBe(false);
      found.set(current, "");
    } else found.set(current, `${found.get(current) ?? ""}${line}\n`.trimStart());
  }
  return new Map([...found].map(([name, body]) => [name, body.trim()]));
}

test("every section that only one side changed is as that side left it, in any merge of random pages", () => {
  let mergedOnes = 0;
  const edits = fc.array(edit, { minLength: 1, maxLength: 2 });
  fc.assert(
    fc.property(page, edits, edits, (base, mine, other) => {
      const [ours, theirs] = [mine.reduce(changed, base), other.reduce(changed, base)];
      const texts = { base: written(base), ours: written(ours), theirs: written(theirs) };
      const outcome = mergeMarkdown(texts, { changelog: false });
      if (outcome.kind === "refused") return;
      mergedOnes++;
      const [b, o, t, result] = [texts.base, texts.ours, texts.theirs, outcome.content].map(read);
      for (const name of new Set([...(b?.keys() ?? []), ...(o?.keys() ?? []), ...(t?.keys() ?? [])])) {
        const [before, left, right] = [b?.get(name), o?.get(name), t?.get(name)];
        const both = left !== before && right !== before && left !== right;
        const wanted = left === before ? right : left;
        if (!both) expect({ texts, name, is: result?.get(name) }).toEqual({ texts, name, is: wanted });
      }
    }),
    { numRuns: 400 },
  );
  expect(mergedOnes).toBeGreaterThan(100);
});
