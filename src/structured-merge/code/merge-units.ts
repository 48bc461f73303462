import { addedOnBothSidesOf, bothRecount, movedAndEdited, touchingEffects } from "./adjacent-edits.ts";
import { comesTooLate } from "./late.ts";
import { rekeyed } from "./rekey.ts";
import { no, ok, type Result } from "./result.ts";
import type { Triple } from "./syntax.ts";
import { isSame, spelling, type Unit } from "./unit.ts";
import { orderOf, type Units } from "./unit-order.ts";
import { isAlike } from "./word-likeness.ts";

/** What to do with a unit that both sides changed, and with one that both added differently. */
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
