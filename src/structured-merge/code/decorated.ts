import type { SyntaxNode } from "./syntax.ts";

/**
 * The tree with each decorator of a class member made a part of that member. The grammar lets it stand beside the member,
 * where a merge could put something between the two.
 */
export function withDecorators(node: SyntaxNode): SyntaxNode {
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
