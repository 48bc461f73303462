import { unaccounted } from "./conserve.ts";
import { withDecorators } from "./decorated.ts";
import { newLateRequired } from "./defaults-last.ts";
import { inventory } from "./inventory.ts";
import { mergeNode } from "./merge-node.ts";
import { namingOf } from "./naming.ts";
import { semanticConflict } from "./semantic.ts";
import { type Code, type Language, type Parse, partsOf, type Triple, textOf } from "./syntax.ts";
import { newTwin } from "./twins.ts";

/** Three versions of one file. */
export interface CodeVersions extends Triple<string> {
  readonly language: Language;
}

/** One text that holds both sides' changes, or a plain sentence why there is none that could be trusted. */
export type CodeMerge =
  | { readonly kind: "merged"; readonly content: string }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Merges source code by its structure. Promises never to drop, revert or double either side's change:
 * what it cannot prove it refuses. Line endings, byte order mark and final newline follow ours.
 */
export async function mergeCode(parse: Parse, { language, ...texts }: CodeVersions): Promise<CodeMerge> {
  const form = formOf(texts.ours);
  if (form === undefined) return refused("our version mixes line endings");
  const read = async (text: string) => codeOf(parse, language, plain(text));
  const [base, ours, theirs] = [await read(texts.base), await read(texts.ours), await read(texts.theirs)];
  if (base === undefined || ours === undefined || theirs === undefined) return refused("one version is not valid code");
  const versions = { base, ours, theirs };
  const semantic = semanticConflict(versions);
  if (semantic !== undefined) return refused(semantic);
  const merged = mergeNode(versions);
  if (!merged.ok) return refused(merged.refusal);
  const result = await codeOf(parse, language, merged.value);
  if (result === undefined) return refused("the merged text would not be valid code");
  const problem = checked(versions, result);
  return problem === undefined ? { kind: "merged", content: form.apply(merged.value) } : refused(problem);
}

const refused = (reason: string): CodeMerge => ({ kind: "refused", reason });

async function codeOf(parse: Parse, language: Language, src: string): Promise<Code | undefined> {
  const node = await parse(language, src);
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

interface Form {
  readonly apply: (text: string) => string;
}

const mark = "\uFEFF";

/** How a text is written: its mark, its line endings, whether it ends with one. */
function formOf(text: string): Form | undefined {
  const windows = text.includes("\r\n");
  if (windows && /(^|[^\r])\n/.test(text)) return undefined;
  const bom = text.startsWith(mark) ? mark : "";
  const ends = text.endsWith("\n");
  return {
    apply: (merged) => {
      const body = ends ? merged : merged.replace(/\n$/, "");
      return bom + (windows ? body.replaceAll("\n", "\r\n") : body);
    },
  };
}

const plain = (text: string): string => {
  const body = (text.startsWith(mark) ? text.slice(1) : text).replaceAll("\r\n", "\n");
  return body === "" || body.endsWith("\n") ? body : `${body}\n`;
};
