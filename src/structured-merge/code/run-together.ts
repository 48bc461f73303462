import type { Unit } from "./unit.ts";
import type { Units } from "./unit-order.ts";

/** A unit that could be read as the continuation of the one before it. */
const continues = /^([([`+\-*/.,?<&|^%=]|in\b|instanceof\b)/;

/** Two units that were not neighbours on any side must not become one statement for want of a semicolon. */
export function runsTogether(units: Units, result: readonly Unit[]): string | undefined {
  for (const [index, unit] of result.entries()) {
    const before = result[index - 1];
    if (before === undefined || !continues.test(unit.text) || endsItself(before)) continue;
    if (![units.ours, units.theirs].some((side) => areNeighbours(side, before.key, unit.key))) {
      return "two statements would run together for want of a semicolon";
    }
  }
  return undefined;
}

const endsItself = ({ text, after, key }: Unit): boolean =>
  /;$/.test(text.trim()) || /^\s*;/.test(after) || /^(comment|function|class|type|enum|namespace) /.test(key);

const areNeighbours = (side: readonly Unit[], one: string, next: string): boolean =>
  side.some(({ key }, index) => key === one && side[index + 1]?.key === next);
