import type { Triple } from "../syntax.ts";
import { isSame, type Unit } from "./unit.ts";

/** The three versions of a container's units, by key. */
export type Units = Triple<readonly Unit[]>;

/** The keys of the result in order, or a sentence why no order does justice to both sides. */
export type Order = { readonly keys: readonly string[] } | { readonly problem: string };

/** Puts the kept keys in order: each side's own order where it has one, ours before theirs at the same place. */
export function orderOf(units: Units, kept: ReadonlySet<string>): Order {
  const lists = {
    base: units.base.map(({ key }) => key),
    ours: units.ours.map(({ key }) => key).filter((key) => kept.has(key)),
    theirs: units.theirs.map(({ key }) => key).filter((key) => kept.has(key)),
  };
  // A part that one side moved counts as moved even if the other side removed it.
  const whole = { ours: units.ours.map(({ key }) => key), theirs: units.theirs.map(({ key }) => key) };
  const moved = { ours: movedKeys(lists.base, whole.ours), theirs: movedKeys(lists.base, whole.theirs) };
  if (moved.ours.size > 0 && moved.theirs.size > 0 && !sameOrder(whole.ours, whole.theirs)) {
    return { problem: "both sides put its parts into a different order" };
  }
  // Where both moved the same parts, each side's other edits stand among what the other side moved.
  const problem =
    movePast({ units, names: moved.ours, mover: "ours", other: "theirs" }) ??
    movePast({ units, names: moved.theirs, mover: "theirs", other: "ours" });
  if (problem !== undefined) return { problem };
  const oursLeads = moved.theirs.size === 0;
  const effects = new Set(
    [...units.ours, ...units.theirs].filter(({ flow }) => flow === "effect").map(({ key }) => key),
  );
  const acts = (key: string) => effects.has(key);
  const keys = oursLeads
    ? insertInto(lists.ours, lists.theirs, { guestLast: true, acts })
    : insertInto(lists.theirs, lists.ours, { guestLast: false, acts });
  const firm = new Set([...units.ours, ...units.theirs].filter(isFirm).map(({ key }) => key));
  const follows = (list: readonly string[]) =>
    sameOrder(
      keys.filter((key) => firm.has(key)),
      list.filter((key) => firm.has(key)),
    );
  const faithful = (moved.theirs.size > 0 || follows(lists.ours)) && (moved.ours.size > 0 || follows(lists.theirs));
  return faithful
    ? { keys: importsFirst(keys, units) }
    : { problem: "both sides added the same part at different places" };
}

/** Imports, functions, types and what does not read its neighbours mean the same wherever they stand. */
const isFirm = ({ key, code, flow }: Unit): boolean =>
  flow !== "free" ||
  (!/^(import|from|function|type|comment) /.test(key) &&
    (!/^((static|get|set) )*member /.test(key) || /field_definition$/.test(code?.node.type ?? "")));

/** The keys that stand on another side of some other key than they did. */
function movedKeys(base: readonly string[], side: readonly string[]): Set<string> {
  const at = new Map(base.map((key, index) => [key, index]));
  const shared = side.filter((key) => at.has(key));
  const moved = new Set<string>();
  for (const [index, key] of shared.entries()) {
    for (const later of shared.slice(index + 1)) {
      if ((at.get(later) ?? 0) < (at.get(key) ?? 0)) moved.add(key).add(later);
    }
  }
  return moved;
}

function sameOrder(one: readonly string[], other: readonly string[]): boolean {
  const inOther = new Set(other);
  const inOne = new Set(one);
  const left = one.filter((key) => inOther.has(key));
  const right = other.filter((key) => inOne.has(key));
  return left.every((key, index) => key === right[index]);
}

interface Move {
  readonly units: Units;
  readonly names: ReadonlySet<string>;
  readonly mover: "ours" | "theirs";
  readonly other: "ours" | "theirs";
}

/** What one side wrote must not depend on the place of what the other side moved. */
function movePast({ units, names, mover, other }: Move): string | undefined {
  if (names.size === 0) return undefined;
  const before = new Map(units.base.map((unit) => [unit.key, unit]));
  if (units[mover].some(({ key, flow }) => names.has(key) && flow === "slot"))
    return "one side moved a part whose position has a meaning";
  const moved = units[mover].filter(({ key }) => names.has(key));
  // Imports that only traded places among themselves are still all there before anything runs.
  const isSorting = moved.every(({ key }) => /^(import|from) /.test(key));
  const movedNames = new Set(isSorting ? [] : moved.flatMap((unit) => unit.names));
  for (const unit of units[other]) {
    const was = before.get(unit.key);
    if (was !== undefined && isSame(was, unit)) continue;
    if (unit.flow !== "free") return "one side reordered parts among which the other side changed what runs in order";
    const words = unit.text.match(/[\w$]+/g) ?? [];
    if (isFirm(unit) && words.some((word) => movedNames.has(word) && !unit.names.includes(word))) {
      return "one side moved a part that the other side newly depends on";
    }
  }
  const gone = units.base.filter(({ key }) => !units[other].some((unit) => unit.key === key));
  return gone.some(({ flow }) => flow !== "free")
    ? "one side reordered parts among which the other side removed what runs in order"
    : undefined;
}

/**
 * Adds what only `guest` has, each after the nearest key before it that `host` has too. Where both have something of their
 * own at one place, what does not act stands before what acts, so that all values are there; else ours comes first.
 */
function insertInto(host: readonly string[], guest: readonly string[], { guestLast, acts }: Insertion): string[] {
  const known = new Set(host);
  const shared = new Set(guest.filter((key) => known.has(key)));
  const guests = runsBehind(guest, shared);
  const hosts = runsBehind(host, shared);
  const place = (anchor: string | undefined): string[] => {
    const [own, other] = [hosts.get(anchor) ?? [], guests.get(anchor) ?? []];
    const [ownActs, otherActs] = [own.some(acts), other.some(acts)];
    const ownFirst = ownActs === otherActs ? guestLast : otherActs;
    return ownFirst ? [...own, ...other] : [...other, ...own];
  };
  return [...place(undefined), ...host.filter((key) => shared.has(key)).flatMap((key) => [key, ...place(key)])];
}

interface Insertion {
  readonly guestLast: boolean;
  readonly acts: (key: string) => boolean;
}

/** What stands behind each shared key (undefined: before all of them) until the next shared key. */
function runsBehind(keys: readonly string[], shared: ReadonlySet<string>): Map<string | undefined, string[]> {
  const runs = new Map<string | undefined, string[]>();
  let anchor: string | undefined;
  for (const key of keys) {
    if (shared.has(key)) anchor = key;
    else runs.set(anchor, [...(runs.get(anchor) ?? []), key]);
  }
  return runs;
}

/** Where both sides added at one place, their imports stand together before the rest. */
function importsFirst(keys: readonly string[], units: Units): string[] {
  const old = new Set(units.base.map(({ key }) => key));
  const firm = new Set([...units.ours, ...units.theirs].filter(({ flow }) => flow !== "free").map(({ key }) => key));
  const out: string[] = [];
  let run: string[] = [];
  const flush = () => {
    const isImport = (key: string) => /^(import|from) /.test(key) && !run.some((other) => firm.has(other));
    out.push(...run.filter(isImport), ...run.filter((key) => !isImport(key)));
    run = [];
  };
  for (const key of keys) {
    if (old.has(key)) {
      flush();
      out.push(key);
    } else run.push(key);
  }
  flush();
  return out;
}
