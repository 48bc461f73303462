import { mergeJsonl } from "../data/jsonl.ts";
import { mergeMarkdown } from "../data/markdown.ts";
import { formatOf } from "../file-format.ts";
import { alignThree, type Chunk } from "../lines/align.ts";
import { attempt, type MergeOutcome, merged, refused, type Texts, unsure } from "../outcome.ts";
import { type Answer, escalate, isEmptied, plainOf, resolved, skip, type Versions } from "../versions.ts";

/** Merges a file to which both sides add, by the git attribute or by its kind. */
export function mergeByUnion(versions: Versions): Answer {
  const merge = mergerFor(versions);
  if (merge === undefined) return skip;
  if (isEmptied(versions)) return escalate("one side emptied the file, the other changed it");
  const plain = plainOf(versions);
  if (plain === undefined) return escalate("the line ends of the file are mixed");
  const outcome = merge(plain);
  return outcome.kind === "merged" ? resolved("union", plain.restore(outcome.content)) : escalate(outcome.reason);
}

function mergerFor({ path, base, union }: Versions): ((texts: Texts) => MergeOutcome) | undefined {
  const format = formatOf(path);
  if (format === "jsonl") return mergeJsonl;
  if (format === "line-set") return mergeLineSet;
  if (union === true) return mergeUnion;
  if (base === null) return undefined;
  if (format === "changelog") return (texts) => mergeMarkdown(texts, { changelog: true });
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

/**
 * Merges a file whose lines are a set, as `go.sum`: what both have, and what each added or removed. The first two words of
 * a line are its key: one key with two values is left to a person.
 */
function mergeLineSet({ base, ours, theirs }: Texts): MergeOutcome {
  const [b = [], o = [], t = []] = [base, ours, theirs].map((text) => text.split("\n").filter((line) => line !== ""));
  if ([b, o, t].some((lines) => new Set(lines).size !== lines.length)) return refused("a line stands twice");
  const [inBase, inOurs, inTheirs] = [new Set(b), new Set(o), new Set(t)];
  const kept = o.filter((line) => inTheirs.has(line) || !inBase.has(line));
  const result = [...kept, ...t.filter((line) => !inOurs.has(line) && !inBase.has(line))];
  const keys = result.map((line) => line.split(/\s+/, 2).join(" "));
  if (new Set(keys).size !== keys.length) return refused("both sides have another value for one key");
  const sorted = (lines: readonly string[]): boolean => lines.join("\n") === lines.toSorted().join("\n");
  const ordered = [b, o, t].every(sorted) ? result.toSorted() : result;
  return merged(ordered.map((line) => `${line}\n`).join(""));
}
