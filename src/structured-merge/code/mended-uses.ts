import type { Declared } from "./inventory.ts";
import { type Code, fieldOf, type SyntaxNode, textOf } from "./syntax.ts";

/**
 * Whether a side that rewrote a function also changed what stands around existing calls of it: `parse(s) + 1` became
 * `parse(s).value + 1`. Then what it gives is another thing, though its head says nothing of that.
 */
export function usesMended(
  { base, changer }: { readonly base: Code; readonly changer: Code },
  { was, is }: { readonly was: Declared; readonly is: Declared },
): boolean {
  const old = surroundings(base, was);
  const now = surroundings(changer, is);
  return [...old].some(([around, count]) => (now.get(around) ?? 0) < count) && sum(now) >= sum(old);
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, one) => all + one, 0);

/** How often calls of it, outside of itself, stand in each kind of place. */
function surroundings(root: Code, { name, code }: Declared): Map<string, number> {
  const counts = new Map<string, number>();
  const walk = (node: SyntaxNode, parent: SyntaxNode | undefined): void => {
    if (node.start === code.node.start && node.end === code.node.end) return;
    if (/^call(_expression)?$/.test(node.type) && calls({ ...root, node }, name)) {
      // What a value is taken apart into says as much of it as what is done with it.
      const target = parent?.children.find(({ field }) => field === "name" || field === "left");
      const parts = target?.children.filter(({ named }) => named).length ?? 0;
      const around = `${parent?.type ?? ""} ${target?.type ?? ""} ${parts}`;
      counts.set(around, (counts.get(around) ?? 0) + 1);
    }
    for (const child of node.children) walk(child, node);
  };
  walk(root.node, undefined);
  return counts;
}

function calls(call: Code, name: string): boolean {
  const callee = fieldOf(call, "function");
  if (callee === undefined) return false;
  const last = fieldOf(callee, "property") ?? fieldOf(callee, "attribute") ?? callee;
  return textOf(last) === name;
}
