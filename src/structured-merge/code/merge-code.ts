import type { Language } from "../file-format.ts";
import { type MergeOutcome, merged, refused } from "../outcome.ts";
import { parseText } from "../parsers/grammars.ts";
import { plainOf } from "../versions.ts";
import { semanticConflict } from "./meaning/cross-edits.ts";
import { faultIn } from "./meaning/result-checks.ts";
import { mergeNode } from "./merge-node.ts";
import type { Code, SyntaxNode, Triple } from "./syntax.ts";

/** Three versions of one file. */
export interface CodeVersions extends Triple<string> {
  readonly language: Language;
}

/**
 * Merges source code by its structure. Never drops, reverts or doubles either side's change; a merge that it cannot
 * prove is refused. Line endings, byte order mark and final newline follow ours.
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
  const problem = faultIn(versions, result);
  return problem === undefined ? merged(plain.restore(text.value)) : refused(problem);
}

async function codeOf(language: Language, src: string): Promise<Code | undefined> {
  const node = await parseText(language, src);
  // The root may begin after leading blank lines; the file begins at its first character.
  return node === undefined || node.hasError
    ? undefined
    : { src, node: { ...withDecorators(node), start: 0, end: src.length }, language };
}

/**
 * The tree with each decorator of a class member made a part of that member. The grammar lets it stand beside the member,
 * where a merge could put something between the two.
 */
function withDecorators(node: SyntaxNode): SyntaxNode {
  if (node.children.length === 0) return node;
  const children = node.children.map(withDecorators);
  const same = children.every((child, index) => child === node.children[index]);
  if (node.type === "class_body" && children.some(isDecorator)) return { ...node, children: folded(children) };
  return same ? node : { ...node, children };
}

const isDecorator = ({ type }: SyntaxNode): boolean => type === "decorator";

function folded(children: readonly SyntaxNode[]): SyntaxNode[] {
  const out: SyntaxNode[] = [];
  let held: SyntaxNode[] = [];
  for (const child of children) {
    const [first] = held;
    if (isDecorator(child) || (first !== undefined && child.type === "comment")) held.push(child);
    else if (first !== undefined && child.named) {
      out.push({ ...child, start: first.start, children: [...held, ...child.children] });
      held = [];
    } else {
      out.push(...held, child);
      held = [];
    }
  }
  return [...out, ...held];
}
