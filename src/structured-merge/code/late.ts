import { isSame, type Unit } from "./unit.ts";
import type { Units } from "./unit-order.ts";

/**
 * What runs while the file loads must not meet a name before it has its value. One side's new call may reach the other
 * side's changed function, which uses a constant that the other side declared further down; and a constant written
 * behind a statement may read what that statement did, so it must not lose its place when the statement goes.
 */
export function comesTooLate(units: Units, order: readonly string[]): string | undefined {
  return (
    late(units, order, { caller: "ours", declarer: "theirs" }) ??
    late(units, order, { caller: "theirs", declarer: "ours" }) ??
    unhinged(units, { adder: "ours", remover: "theirs" }) ??
    unhinged(units, { adder: "theirs", remover: "ours" })
  );
}

type Side = "ours" | "theirs";

function late(
  units: Units,
  order: readonly string[],
  { caller, declarer }: { caller: Side; declarer: Side },
): string | undefined {
  const at = new Map(order.map((key, index) => [key, index]));
  const calls = touched(units, caller).filter(({ flow }) => flow === "effect");
  const written = touched(units, declarer);
  const values = written.filter(isValue).filter(({ key }) => !units.base.some((unit) => unit.key === key));
  for (const value of values) {
    const isUsed = written.some((unit) => unit !== value && mentions(unit, value.names));
    const early = calls.find(({ key }) => (at.get(key) ?? 0) < (at.get(value.key) ?? 0));
    if (isUsed && early !== undefined) return `${value.names.join(", ")} might be used before it has its value`;
  }
  return undefined;
}

function unhinged(units: Units, { adder, remover }: { adder: Side; remover: Side }): string | undefined {
  const old = new Map(units.base.map((unit) => [unit.key, unit]));
  const left = new Set(units[remover].map(({ key }) => key));
  let before: Unit | undefined;
  for (const unit of units[adder]) {
    const known = old.get(unit.key);
    if (known !== undefined) before = known;
    else if (isValue(unit) && before?.flow === "effect" && !left.has(before.key)) {
      return `${unit.names.join(", ")} was added behind a statement that the other side removed`;
    }
  }
  return undefined;
}

const touched = (units: Units, side: Side): Unit[] => {
  const old = new Map(units.base.map((unit) => [unit.key, unit]));
  return units[side].filter((unit) => {
    const was = old.get(unit.key);
    return was === undefined || !isSame(was, unit);
  });
};

/** It gets its value when its place is reached, unlike functions, types and imports. */
const isValue = ({ key }: Unit): boolean =>
  /^(variable|unpack|class|enum|assign|namespace|export default|repeated) ?/.test(key);

function mentions({ text }: Unit, names: readonly string[]): boolean {
  const words = new Set(text.match(/[\w$]+/g) ?? []);
  return names.some((name) => words.has(name));
}
