import { type MergeOutcome, merged, refused, type Texts } from "./outcome.ts";

/**
 * Merges a file whose lines are a set, as `go.sum`: what both have, and what each added or removed. The first two words of
 * a line are its key: one key with two values is left to a person.
 */
export function mergeLineSet({ base, ours, theirs }: Texts): MergeOutcome {
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
