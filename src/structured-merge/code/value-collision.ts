import { unwrap } from "./naming.ts";
import { childOf, fieldOf, textOf } from "./syntax.ts";
import type { Unit } from "./unit.ts";
import type { Units } from "./unit-order.ts";

/**
 * Both sides took the same next number or code: `A = 1, B = 2` on which one adds `C = 3` and the other `D = 3`.
 * Noticed where all values were literals, no two were equal before, and there were at least `fewest` of them.
 */
export function valueCollision(
  { base, ours, theirs }: Units,
  result: readonly Unit[],
  { fewest }: { readonly fewest: number },
): string | undefined {
  const all = literalsOf(base);
  // In a file full of other things, the constants in capitals with numbers are the series.
  const isSeries = all.length === base.filter(isNamed).length;
  const read = (units: readonly Unit[]) => literalsOf(isSeries ? units : units.filter(isNumbered));
  const known = read(base);
  if (known.length < fewest || hasTwins(known) || hasTwins(read(ours)) || hasTwins(read(theirs))) return undefined;
  const values = read(result);
  const twin = values.find((value, index) => values.indexOf(value) !== index);
  return twin === undefined ? undefined : `both sides added a part with the value ${twin}, where values were unique`;
}

const isNamed = ({ names }: Unit): boolean => names.length > 0;
const isNumbered = ({ names, text }: Unit): boolean =>
  /^[A-Z][A-Z0-9_]*$/.test(names[0] ?? "") && /=\s*-?[\d(]/.test(text);
const hasTwins = (values: readonly string[]): boolean => new Set(values).size !== values.length;
const literal = /^-?(\d[\w.]*|(["'])[^"'\n]*\2|\(?1\s*<<\s*\d+\)?)$/;

function literalsOf(units: readonly Unit[]): string[] {
  return units.flatMap(({ code }) => {
    if (code === undefined) return [];
    const inner = unwrap(code);
    const holder = childOf(inner, "variable_declarator", "assignment") ?? inner;
    const value = fieldOf(holder, "value") ?? fieldOf(holder, "right");
    const text = value === undefined ? "" : textOf(value);
    return literal.test(text) ? [text] : [];
  });
}
