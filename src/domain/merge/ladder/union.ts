import { mergeJsonl } from "../data/jsonl.ts";
import { mergeLineSet } from "../data/line-set.ts";
import { mergeMarkdown } from "../data/markdown.ts";
import { attempt, type MergeOutcome, merged, type Texts, unsure } from "../data/outcome.ts";
import { alignThree, type Chunk } from "../data/sequence.ts";
import type { ParseYaml } from "../data/yaml.ts";
import { plainOf } from "./form.ts";
import { formatOf } from "./format.ts";
import { isEmptied } from "./guard.ts";
import { type Answer, escalate, type Rung, resolved, skip, type Triple } from "./triple.ts";

/** Files to which both sides add: the git attribute says so, or their kind does. The result has what both have, once. */
export function unionRung({ parseYaml }: { readonly parseYaml: ParseYaml }): Rung {
  return { name: "union", attempt: async (triple) => united(triple, parseYaml) };
}

function united(triple: Triple, parseYaml: ParseYaml): Answer {
  const merge = mergerFor(triple, parseYaml);
  if (merge === undefined) return skip;
  if (isEmptied(triple)) return escalate("one side emptied the file, the other changed it");
  const plain = plainOf(triple);
  if (plain === undefined) return escalate("the line ends of the file are mixed");
  const outcome = merge(plain);
  return outcome.kind === "merged" ? resolved("union", plain.restore(outcome.content)) : escalate(outcome.reason);
}

function mergerFor({ path, base, union }: Triple, parseYaml: ParseYaml): ((texts: Texts) => MergeOutcome) | undefined {
  const format = formatOf(path);
  if (format === "jsonl") return mergeJsonl;
  if (format === "line-set") return mergeLineSet;
  if (union === true) return mergeUnion;
  if (base === null) return undefined;
  if (format === "changelog") return (texts) => mergeMarkdown(texts, { parseYaml, changelog: true });
  if (format === "ignore-list") return mergeIgnoreList;
  return undefined;
}

/** Where both sides changed a place, ours and then what theirs has besides. A deletion beside a change is no union. */
function mergeUnion(texts: Texts): MergeOutcome {
  return attempt(() => merged(woven(texts, () => undefined)));
}

/** Patterns have no order among themselves, as long as none of them takes another back. */
function mergeIgnoreList(texts: Texts): MergeOutcome {
  return attempt(() => {
    const negated = [texts.base, texts.ours, texts.theirs].some((text) => /^!/m.test(text));
    const content = woven(texts, ({ base }) => {
      if (base.length > 0) unsure("both sides changed the same patterns");
      if (negated) unsure("the order of patterns matters where one is negated");
    });
    return merged(content);
  });
}

function woven({ base, ours, theirs }: Texts, check: (chunk: Chunk<string>) => void): string {
  const sides = { base: lines(base), ours: lines(ours), theirs: lines(theirs) };
  const result = alignThree(sides, (line) => line).flatMap((chunk) => {
    const [b, o, t] = [chunk.base.join("\n"), chunk.ours.join("\n"), chunk.theirs.join("\n")];
    const same = (x: readonly string[], y: readonly string[]): boolean => x.length === y.length;
    if (chunk.stable || (o === t && same(chunk.ours, chunk.theirs)) || (b === t && same(chunk.base, chunk.theirs))) {
      return chunk.ours;
    }
    if (b === o && same(chunk.base, chunk.ours)) return chunk.theirs;
    if (chunk.ours.length === 0 || chunk.theirs.length === 0) unsure("one side deleted lines the other changed");
    check(chunk);
    const known = new Set(chunk.ours);
    return [...chunk.ours, ...chunk.theirs.filter((line) => line.trim() === "" || !known.has(line))];
  });
  return result.map((line) => `${line}\n`).join("");
}

const lines = (text: string): readonly string[] => (text === "" ? [] : text.slice(0, -1).split("\n"));
