import { splitLines } from "../../lines/merge-lines.ts";
import { type Code, fieldOf, nodesOf, partsOf, type SyntaxNode, type Triple, textOf } from "../syntax.ts";
import { boundNames, namingOf } from "./naming.ts";

/** A name that one side no longer declares in this code while the other side's edit mentions it. */
export function lostNameUsed({ base, ours, theirs }: Triple<Code>): string | undefined {
  return lostOn({ base, remover: ours, user: theirs }) ?? lostOn({ base, remover: theirs, user: ours });
}

interface Roles {
  readonly base: Code;
  readonly remover: Code;
  readonly user: Code;
}

function lostOn({ base, remover, user }: Roles): string | undefined {
  const lost = declaredIn(base).difference(declaredIn(remover));
  if (lost.size === 0) return undefined;
  return freshLeaves(base, user).find(({ text }) => lost.has(text))?.text;
}

/** Every name declared anywhere in the code: variables, parameters, functions, members, imports. */
export function declaredIn(code: Code): Set<string> {
  const names = new Set<string>();
  for (const part of nodesOf(code)) for (const name of declaredBy(part)) names.add(name);
  return names;
}

function declaredBy(part: Code): readonly string[] {
  switch (part.node.type) {
    case "variable_declarator":
      return boundNames(fieldOf(part, "name") ?? part);
    case "formal_parameters":
    case "parameters":
    case "lambda_parameters":
      return partsOf(part).flatMap(parameterNames);
    case "assignment":
    case "for_statement":
    case "for_in_statement":
    case "for_in_clause": {
      const left = fieldOf(part, "left");
      return left === undefined ? [] : boundNames(left);
    }
    case "arrow_function": {
      const single = fieldOf(part, "parameter");
      return single === undefined ? [] : [textOf(single)];
    }
    case "catch_clause": {
      const caught = fieldOf(part, "parameter");
      return caught === undefined ? [] : boundNames(caught);
    }
    case "as_pattern_target":
      return [textOf(part)];
    case "expression_statement":
    case "export_statement":
    case "lexical_declaration":
      return [];
    default:
      return /(declaration|definition|signature|statement|pair|specifier|assignment)$/.test(part.node.type)
        ? namingOf(part).names
        : [];
  }
}

/** The names one parameter binds, its type and default left out. */
export function parameterNames(parameter: Code): string[] {
  const pattern = fieldOf(parameter, "pattern") ?? fieldOf(parameter, "name") ?? fieldOf(parameter, "left");
  if (pattern !== undefined) return boundNames(pattern);
  if (parameter.node.type === "typed_parameter") return partsOf(parameter).slice(0, 1).flatMap(boundNames);
  return boundNames(parameter);
}

/** A leaf of the tree that stands on a line the side wrote, with the nodes around it, nearest first. */
export interface FreshLeaf {
  readonly text: string;
  readonly type: string;
  readonly start: number;
  readonly around: readonly SyntaxNode[];
}

/** The names and strings on lines that a side has and the base has not (or has less often). */
export function freshLeaves(base: Code, side: Code): FreshLeaf[] {
  const fresh = freshOffsets(textOf(base), textOf(side));
  const leaves: FreshLeaf[] = [];
  const walk = (node: SyntaxNode, around: readonly SyntaxNode[]) => {
    if (node.type === "comment") return;
    if (node.children.length === 0) {
      if (
        node.named &&
        fresh.some(([from, to]) => node.start - side.node.start < to && node.end - side.node.start > from)
      ) {
        leaves.push({ text: side.src.slice(node.start, node.end), type: node.type, start: node.start, around });
      }
      return;
    }
    for (const child of node.children) walk(child, [node, ...around]);
  };
  walk(side.node, []);
  return leaves;
}

/** The stretches of a text whose lines the base does not have that often. */
function freshOffsets(base: string, side: string): [number, number][] {
  const known = countLines(base);
  const here = countLines(side);
  const out: [number, number][] = [];
  let at = 0;
  for (const line of splitLines(side)) {
    const text = line.trim();
    if ((here.get(text) ?? 0) > (known.get(text) ?? 0)) out.push([at, at + line.length]);
    at += line.length;
  }
  return out;
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of splitLines(text)) counts.set(line.trim(), (counts.get(line.trim()) ?? 0) + 1);
  return counts;
}
