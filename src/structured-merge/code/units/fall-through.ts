import { type Code, partsOf } from "../syntax.ts";
import type { Unit } from "./unit.ts";
import type { Units } from "./unit-order.ts";

const leaves = /^(break|return|throw|continue)_statement$/;

/** A switch case that runs on into the next one must be followed by the case its author saw there. */
export function fallsApart(units: Units, result: readonly Unit[]): string | undefined {
  for (const [index, unit] of result.entries()) {
    if (!/^(case |default$)/.test(unit.key)) continue;
    const versions = [...units.ours, ...units.theirs].filter(({ key }) => key === unit.key);
    if (versions.every(ends)) continue;
    const next = result[index + 1]?.key;
    const seen = [units.ours, units.theirs].flatMap((side) => {
      const at = side.findIndex(({ key }) => key === unit.key);
      return at === -1 ? [] : [side[at + 1]?.key];
    });
    if (seen.some((key) => key !== next)) return `"${unit.key}" runs on into a case that is not the same on both sides`;
  }
  return undefined;
}

const ends = ({ code }: Unit): boolean => code !== undefined && endsCase(code);

/** Whether a case leaves the switch by its last statement. */
export function endsCase(code: Code): boolean {
  const last = partsOf(code).at(-1);
  if (last === undefined) return false;
  if (leaves.test(last.node.type)) return true;
  const inner = last.node.type === "statement_block" ? partsOf(last).at(-1) : undefined;
  return inner !== undefined && leaves.test(inner.node.type);
}
