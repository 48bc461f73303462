import type { Triple } from "../syntax.ts";
import { no, ok, type Result } from "../syntax.ts";
import { isAlike, leastAlike, likeness } from "../word-likeness.ts";
import { isSame, spelling, type Unit } from "./unit.ts";
import { addedOnBothSidesOf, bothRecount, movedAndEdited, orderOf, touchingEffects, type Units } from "./unit-order.ts";

/** How to merge a unit that both sides changed, and one that both added differently. */
export interface UnitMerge {
  readonly changed: (versions: Triple<Unit>) => Result<Unit, string>;
  readonly added: (ours: Unit, theirs: Unit) => Result<Unit, string>;
}

/** Merges the units of one container by key. The refusal is a sentence that names the unit. */
export function mergeUnits(given: Units, merge: UnitMerge): Result<Unit[], string> {
  const units = { base: given.base, ours: rekeyed(given.base, given.ours), theirs: rekeyed(given.base, given.theirs) };
  const all = { base: byKey(units.base), ours: byKey(units.ours), theirs: byKey(units.theirs) };
  const kept = new Map<string, Unit>();
  for (const key of new Set([...all.ours.keys(), ...all.theirs.keys()])) {
    const outcome = settle({ base: all.base.get(key), ours: all.ours.get(key), theirs: all.theirs.get(key) }, merge);
    if (!outcome.ok) return outcome;
    if (outcome.value !== undefined) kept.set(key, outcome.value);
  }
  const twice = renamedTwice(units);
  if (twice !== undefined) return no(`${labelOf(twice)} was renamed or rewritten on one side and is gone on the other`);
  if (bothRecount(units)) return no("both sides added or removed parts whose position has a meaning");
  const pair = touchingEffects(units);
  if (pair !== undefined) {
    return no(`both sides edited what runs in order at the same place: ${labelOf(pair[0])} and ${labelOf(pair[1])}`);
  }
  const moved = movedAndEdited(units);
  if (moved !== undefined)
    return no(`${labelOf(moved)} was perhaps moved on one side, and the other side edited what runs in order`);
  const common = addedOnBothSidesOf(units);
  if (common !== undefined) return no(`both sides added ${labelOf(common)} at different places, or so it may be`);
  const order = orderOf(units, new Set(kept.keys()));
  if ("problem" in order) return no(order.problem);
  const late = comesTooLate(units, order.keys);
  if (late !== undefined) return no(late);
  return ok(
    withGaps(
      order.keys.flatMap((key) => kept.get(key) ?? []),
      units,
    ),
  );
}

const byKey = (units: readonly Unit[]): Map<string, Unit> => new Map(units.map((unit) => [unit.key, unit]));

interface Versions {
  readonly base: Unit | undefined;
  readonly ours: Unit | undefined;
  readonly theirs: Unit | undefined;
}

/** The three-way rule for one key; undefined means it is gone. */
function settle({ base, ours, theirs }: Versions, merge: UnitMerge): Result<Unit | undefined, string> {
  if (base === undefined) {
    if (ours === undefined || theirs === undefined) return ok(ours ?? theirs);
    return isSame(ours, theirs) ? ok(ours) : merge.added(ours, theirs);
  }
  if (ours === undefined || theirs === undefined) {
    const left = ours ?? theirs;
    if (left === undefined || isSame(left, base)) return ok(undefined);
    return no(`${labelOf(base)} was removed on one side and changed on the other`);
  }
  const gap = ours.gap === base.gap ? theirs.gap : ours.gap;
  if (isSame(ours, theirs) || isSame(theirs, base)) return ok({ ...ours, gap });
  if (isSame(ours, base)) return ok({ ...theirs, gap });
  const merged = merge.changed({ base, ours, theirs });
  return merged.ok ? ok({ ...merged.value, gap }) : merged;
}

/** A unit that vanished on both sides while one of them wrote something like it: two fates for one thing. */
function renamedTwice({ base, ours, theirs }: Units): Unit | undefined {
  const old = byKey(base);
  const [left, right] = [byKey(ours), byKey(theirs)];
  const fresh = [...ours, ...theirs].filter(({ key }) => !old.has(key));
  const shared = (unit: Unit) => left.has(unit.key) && right.has(unit.key);
  return base.find(
    (unit) =>
      !left.has(unit.key) &&
      !right.has(unit.key) &&
      fresh.some((candidate) => !shared(candidate) && isAlike(spelling(unit), spelling(candidate))),
  );
}

/** Blank lines stay as each side wrote them; only a unit that was first, or has become first, needs new ones. */
function withGaps(result: readonly Unit[], units: Units): Unit[] {
  const firsts = [units.base, units.ours, units.theirs].flatMap(([first]) => (first === undefined ? [] : [first]));
  const opening = firsts[0]?.gap ?? "";
  return result.map((unit, index) => {
    if (index === 0) return { ...unit, gap: opening };
    const wasFirst = firsts.some(({ key, gap }) => key === unit.key && gap === unit.gap);
    if (!wasFirst || unit.gap.includes("\n")) return unit;
    return { ...unit, gap: usualGap(unit, units) };
  });
}

/** The blank lines that follow a unit in its own version, else those of its neighbours. */
function usualGap(unit: Unit, { ours, theirs }: Units): string {
  for (const side of [ours, theirs]) {
    const index = side.findIndex(({ key }) => key === unit.key);
    const next = side[index + 1];
    if (index !== -1 && next !== undefined) return next.gap;
  }
  return unit.gap;
}

/** How a refusal speaks of a unit. */
export function labelOf({ key, text }: Unit): string {
  const [kind = ""] = key.split(" ", 1);
  const short = (kind === "statement" || kind === "repeated" || kind === "test" ? text : key).split("\n", 1)[0] ?? "";
  return short.length > 60 ? `"${short.slice(0, 57)}..."` : `"${short}"`;
}

/**
 * A statement is known by its text, so an edited one looks like one removed and another added. Where a side replaced exactly
 * one statement by one like it, between the same neighbours, the new one gets the old one's key: it was changed in place.
 * Not so if another new statement is more like the old one: then that one may be it, moved and edited.
 */
function rekeyed(base: readonly Unit[], side: readonly Unit[]): readonly Unit[] {
  const here = new Set(side.map(({ key }) => key));
  const old = new Map(base.map(({ key }, index) => [key, index]));
  const news = placed(side, old);
  const added = Map.groupBy(news, ({ after }) => after);
  const removed = Map.groupBy(
    base.flatMap((unit, index) => (here.has(unit.key) ? [] : [{ unit, after: lastKept(base, here, index) }])),
    ({ after }) => after,
  );
  const renamed = new Map<string, string>();
  for (const [after, gone] of removed) {
    const fresh = (added.get(after) ?? []).filter(({ unit }) => isStatement(unit));
    const [was] = gone.filter(({ unit }) => isStatement(unit));
    const [is] = fresh;
    if (gone.length !== 1 || fresh.length !== 1 || was === undefined || is === undefined) continue;
    const like = likeness(spelling(was.unit), spelling(is.unit));
    const isBest = news.every(({ unit }) => likeness(spelling(was.unit), spelling(unit)) <= like);
    if (was.unit.code?.node.type === is.unit.code?.node.type && like >= leastAlike && isBest)
      renamed.set(is.unit.key, was.unit.key);
  }
  return renamed.size === 0 ? side : side.map((unit) => ({ ...unit, key: renamed.get(unit.key) ?? unit.key }));
}

const isStatement = ({ key, code }: Unit): boolean => key.startsWith("statement ") && code !== undefined;

/** The units a side added, each with the base unit it stands behind (-1: none). */
function placed(side: readonly Unit[], old: ReadonlyMap<string, number>): { unit: Unit; after: number }[] {
  const out: { unit: Unit; after: number }[] = [];
  let after = -1;
  for (const unit of side) {
    const index = old.get(unit.key);
    if (index === undefined) out.push({ unit, after });
    else after = index;
  }
  return out;
}

function lastKept(base: readonly Unit[], here: ReadonlySet<string>, index: number): number {
  for (let at = index - 1; at >= 0; at--) if (here.has(base[at]?.key ?? "")) return at;
  return -1;
}

/**
 * What runs while the file loads must not meet a name before it has its value. One side's new call may reach the other
 * side's changed function, which uses a constant that the other side declared further down; and a constant written
 * behind a statement may read what that statement did, so it must not lose its place when the statement goes.
 */
function comesTooLate(units: Units, order: readonly string[]): string | undefined {
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
