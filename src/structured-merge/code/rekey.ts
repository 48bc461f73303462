import { spelling, type Unit } from "./unit.ts";
import { leastAlike, likeness } from "./word-likeness.ts";

/**
 * A statement is known by its text, so an edited one looks like one removed and another added. Where a side replaced exactly
 * one statement by one like it, between the same neighbours, the new one gets the old one's key: it was changed in place.
 * Not so if another new statement is more like the old one: then that one may be it, moved and edited.
 */
export function rekeyed(base: readonly Unit[], side: readonly Unit[]): readonly Unit[] {
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
