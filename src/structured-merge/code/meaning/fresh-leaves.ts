import { splitLines } from "../../lines/merge-lines.ts";
import { type Code, type SyntaxNode, textOf } from "../syntax.ts";

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
