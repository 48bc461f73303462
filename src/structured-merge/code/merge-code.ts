import type { Language } from "../file-format.ts";
import { type MergeOutcome, merged, refused } from "../outcome.ts";
import { parseText } from "../parsers/grammars.ts";
import { plainOf } from "../plain-text.ts";
import { unaccounted } from "./conserved-tokens.ts";
import { semanticConflict } from "./cross-edits.ts";
import { withDecorators } from "./decorated.ts";
import { newLateRequired } from "./defaults-last.ts";
import { inventory } from "./inventory.ts";
import { mergeNode } from "./merge-node.ts";
import { namingOf } from "./naming.ts";
import { type Code, partsOf, type Triple, textOf } from "./syntax.ts";
import { newTwin } from "./twins.ts";

/** Three versions of one file. */
export interface CodeVersions extends Triple<string> {
  readonly language: Language;
}

/**
 * Merges source code by its structure. Promises never to drop, revert or double either side's change:
 * what it cannot prove it refuses. Line endings, byte order mark and final newline follow ours.
 */
export async function mergeCode({ language, ...texts }: CodeVersions): Promise<MergeOutcome> {
  const plain = plainOf(texts);
  if (plain === undefined) return refused("our version mixes line endings");
  const read = async (text: string) => codeOf(language, text);
  const [base, ours, theirs] = [await read(plain.base), await read(plain.ours), await read(plain.theirs)];
  if (base === undefined || ours === undefined || theirs === undefined) return refused("one version is not valid code");
  const versions = { base, ours, theirs };
  const semantic = semanticConflict(versions);
  if (semantic !== undefined) return refused(semantic);
  const text = mergeNode(versions);
  if (!text.ok) return refused(text.refusal);
  const result = await codeOf(language, text.value);
  if (result === undefined) return refused("the merged text would not be valid code");
  const problem = checked(versions, result);
  return problem === undefined ? merged(plain.restore(text.value)) : refused(problem);
}

async function codeOf(language: Language, src: string): Promise<Code | undefined> {
  const node = await parseText(language, src);
  // The root may begin after leading blank lines; the file begins at its first character.
  return node === undefined || node.hasError
    ? undefined
    : { src, node: { ...withDecorators(node), start: 0, end: src.length }, language };
}

function checked(versions: Triple<Code>, result: Code): string | undefined {
  const missing = unaccountedDeclaration(versions, result);
  if (missing !== undefined) return `${missing} would be lost, kept against its removal, or doubled`;
  const twin = newTwin(result, versions.ours, versions.theirs);
  if (twin !== undefined) return `${twin} would be declared twice`;
  const doubled = doubledCall(versions, result);
  if (doubled !== undefined) return `both sides added "${doubled.slice(0, 60)}", and it would run twice`;
  const late = newLateRequired(result, versions.ours, versions.theirs);
  if (late !== undefined) return `${late} is required and would stand behind what has a default`;
  if (replacesExports(result) && !replacesExports(versions.ours) && !replacesExports(versions.theirs)) {
    return "one side replaced module.exports and the other added to exports";
  }
  if (mixesIndents(result.src) && !mixesIndents(versions.ours.src) && !mixesIndents(versions.theirs.src)) {
    return "one side indents with tabs and the other with spaces";
  }
  const lost = unaccounted(versions, result);
  return lost === undefined ? undefined : `the change of "${lost.slice(0, 60)}" could not be carried over for certain`;
}

/** A statement of the file that both sides added, each in a place of its own, was meant once. */
function doubledCall({ base, ours, theirs }: Triple<Code>, result: Code): string | undefined {
  const counts = (code: Code): Map<string, number> => {
    const found = new Map<string, number>();
    for (const part of partsOf(code)) {
      if (part.node.type === "expression_statement") found.set(textOf(part), (found.get(textOf(part)) ?? 0) + 1);
    }
    return found;
  };
  const [before, left, right] = [counts(base), counts(ours), counts(theirs)];
  for (const [text, count] of counts(result)) {
    const [was, mine, yours] = [before.get(text) ?? 0, left.get(text) ?? 0, right.get(text) ?? 0];
    if (mine > was && yours > was && count > Math.max(mine, yours)) return text;
  }
  return undefined;
}

const mixesIndents = (text: string): boolean => /^\t/m.test(text) && /^ {2}/m.test(text);

/** What is added to `exports` is lost where `module.exports` becomes another object. */
function replacesExports(code: Code): boolean {
  const keys = partsOf(code).map((part) => namingOf(part).key);
  return keys.includes("assign module.exports") && keys.some((key) => key.startsWith("assign exports."));
}

/** Every declaration of both sides is in the result, every removed one is not. */
function unaccountedDeclaration(versions: Triple<Code>, result: Code): string | undefined {
  const paths = (code: Code) => new Set(inventory(code).map(({ path }) => path));
  const [base, ours, theirs, merged] = [
    paths(versions.base),
    paths(versions.ours),
    paths(versions.theirs),
    paths(result),
  ];
  const wanted = (path: string) =>
    base.has(path) ? ours.has(path) && theirs.has(path) : ours.has(path) || theirs.has(path);
  const all = base.union(ours).union(theirs).union(merged);
  return [...all].find((path) => wanted(path) !== merged.has(path));
}
