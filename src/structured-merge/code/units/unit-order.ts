import { isQuiet } from "../meaning/purity.ts";
import { type Code, fieldOf, partsOf, type Triple, textOf } from "../syntax.ts";
import { isAlike } from "../word-likeness.ts";
import { isSame, spelling, type Unit } from "./unit.ts";

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

/**
 * Whether both sides touched what runs in order (or what is counted by its place) without an untouched unit in between.
 * Such edits have no order of their own, so choosing one would be a guess. Answers with the two units.
 */
export function touchingEffects(units: Units): readonly [Unit, Unit] | undefined {
  const ours = touchesOf(units.base, units.ours);
  const theirs = touchesOf(units.base, units.theirs);
  const common = new Set(ours.filter((one) => theirs.some((other) => isEqualTouch(one, other))).map(({ id }) => id));
  const left = ours.filter(({ id }) => !common.has(id));
  const right = theirs.filter(({ id }) => !common.has(id));
  const busy = new Set([...ours, ...theirs].map(({ place }) => place));
  for (const one of left) {
    for (const other of right) {
      // One unit that both changed is looked into by itself.
      if (one.id === other.id && one.how === "changed") continue;
      if (areOrdered(one, other) && areTouching(one.place, other.place, busy)) return [one.unit, other.unit];
    }
  }
  return undefined;
}

/**
 * A statement that one side took away while it wrote one like it at another place was moved and edited, or so it may be.
 * Then what the other side put in order was put in order with it. Answers with that statement.
 */
export function movedAndEdited(units: Units): Unit | undefined {
  const touches = { ours: touchesOf(units.base, units.ours), theirs: touchesOf(units.base, units.theirs) };
  return movedOn(touches.ours, touches.theirs) ?? movedOn(touches.theirs, touches.ours);
}

function movedOn(mover: readonly Touch[], other: readonly Touch[]): Unit | undefined {
  const acting = ({ unit }: Touch): boolean => unit.flow === "effect" && unit.key.startsWith("statement ");
  const common = new Set(mover.map(({ id }) => id));
  if (!other.some((touch) => acting(touch) && !common.has(touch.id))) return undefined;
  const gone = mover.filter((touch) => touch.how === "removed" && acting(touch));
  const fresh = mover.filter((touch) => touch.how === "added" && acting(touch));
  return gone.find(({ unit }) => fresh.some((touch) => isAlike(spelling(unit), spelling(touch.unit))))?.unit;
}

/**
 * What both sides added stands on one side before, on the other behind a part that the one kept and the other wrote anew.
 * The new part may be the old one edited, and then the two sides contradict each other. Answers with what both added.
 */
export function addedOnBothSidesOf(units: Units): Unit | undefined {
  return (
    straddled(units, { writer: "ours", keeper: "theirs" }) ?? straddled(units, { writer: "theirs", keeper: "ours" })
  );
}

type Side = "ours" | "theirs";

function straddled(units: Units, { writer, keeper }: { writer: Side; keeper: Side }): Unit | undefined {
  const places = (list: readonly Unit[]) => new Map(list.map(({ key }, index) => [key, index]));
  const [base, written, kept] = [places(units.base), places(units[writer]), places(units[keeper])];
  const isOrdered = ({ flow }: Unit): boolean => flow !== "free";
  const gone = units.base.filter((unit) => isOrdered(unit) && !written.has(unit.key) && kept.has(unit.key));
  const added = units[writer].filter((unit) => isOrdered(unit) && !base.has(unit.key));
  const [common, fresh] = [added.filter(({ key }) => kept.has(key)), added.filter(({ key }) => !kept.has(key))];
  const isBefore = (at: ReadonlyMap<string, number>, one: Unit, two: Unit): boolean =>
    (at.get(one.key) ?? 0) < (at.get(two.key) ?? 0);
  return common.find((both) =>
    gone.some((old) => fresh.some((own) => isBefore(written, own, both) !== isBefore(kept, old, both))),
  );
}

/** Whether both sides changed which counted units there are, or their order, in different ways. */
export function bothRecount({ base, ours, theirs }: Units): boolean {
  const slots = (units: readonly Unit[]) =>
    units
      .filter(({ flow }) => flow === "slot")
      .map(({ key }) => key)
      .join("\n");
  const [was, left, right] = [slots(base), slots(ours), slots(theirs)];
  return left !== was && right !== was && left !== right;
}

/** An edit of one side: even places are gaps between base units, odd places base units themselves. */
interface Touch {
  readonly id: string;
  readonly place: number;
  readonly unit: Unit;
  readonly how: "added" | "changed" | "removed";
}

function touchesOf(base: readonly Unit[], side: readonly Unit[]): Touch[] {
  const at = new Map(base.map(({ key }, index) => [key, index]));
  const touches: Touch[] = [];
  let place = 0;
  for (const unit of side) {
    const index = at.get(unit.key);
    const was = index === undefined ? undefined : base[index];
    if (index === undefined || was === undefined) touches.push({ id: `added ${unit.key}`, place, unit, how: "added" });
    else {
      place = 2 * index + 2;
      if (!isSame(was, unit)) touches.push({ id: `changed ${unit.key}`, place: place - 1, unit, how: "changed" });
    }
  }
  const here = new Set(side.map(({ key }) => key));
  for (const [index, unit] of base.entries()) {
    if (!here.has(unit.key)) touches.push({ id: `removed ${unit.key}`, place: 2 * index + 1, unit, how: "removed" });
  }
  return touches;
}

const isEqualTouch = (one: Touch, other: Touch): boolean => one.id === other.id && isSame(one.unit, other.unit);

function areOrdered(one: Touch, other: Touch): boolean {
  if (one.how === "added" && other.how === "added" && announceApart(one.unit, other.unit)) return false;
  if (one.unit.flow === "effect" && other.unit.flow === "effect") return true;
  const counts = ({ unit, how }: Touch) => unit.flow === "slot" && how !== "changed";
  return (counts(one) && other.how !== "changed") || (counts(other) && one.how !== "changed");
}

function areTouching(one: number, other: number, busy: ReadonlySet<number>): boolean {
  const [low, high] = [Math.min(one, other), Math.max(one, other)];
  for (let place = low + 1; place < high; place++) {
    if (place % 2 === 1 && !busy.has(place)) return false;
  }
  return true;
}

/**
 * Whether two units only announce different things to the same place, so that their order cannot be noticed: routes whose
 * paths never fit one request, commands and tasks known by the name of their function.
 */
function announceApart(one: Unit, other: Unit): boolean {
  const [left, right] = [announcementOf(one), announcementOf(other)];
  if (left === undefined || right === undefined || left.to !== right.to) return false;
  if (left.path === undefined || right.path === undefined) return left.path === right.path && one.key !== other.key;
  return (
    (left.verb !== right.verb && left.verb !== "any" && right.verb !== "any") || areDisjoint(left.path, right.path)
  );
}

interface Announcement {
  /** The object to which it is announced. */
  readonly to: string;
  /** `any` where it answers to all. */
  readonly verb: string;
  /** Undefined where the unit is known by the function's name. */
  readonly path: string | undefined;
}

const verbs = "get|post|put|patch|delete|head|options";
const routed = new RegExp(`^@\\s*([\\w.]+)\\.(${verbs}|route|websocket)\\(\\s*(["'])([^"'{}]*)\\3[^()]*\\)$`, "i");
/** In a class the place it is announced to is the class. */
const controlled = new RegExp(`^@\\s*(${verbs}|all)\\(\\s*(?:(["'])([^"']*)\\2)?\\s*\\)$`, "i");
const named = /^@\s*([\w.]+)\.(command|task|tool|fixture)\(\s*\)$/;

function announcementOf(unit: Unit): Announcement | undefined {
  if (unit.code === undefined) return undefined;
  if (unit.code.node.type === "expression_statement") return calledOn(unit.code);
  const { src, node } = unit.code;
  const decorators = node.children
    .filter(({ type }) => type === "decorator")
    .map(({ start, end }) => src.slice(start, end));
  const handler = decorators.map((text) => controlled.exec(text)).find((found) => found !== null);
  if (handler) return { to: "the controller", verb: verbOf(handler[1]), path: handler[3] ?? "" };
  const [only = ""] = decorators.length === 1 ? decorators : [];
  const route = routed.exec(only);
  if (route !== null) return { to: route[1] ?? "", verb: verbOf(route[2]), path: route[4] };
  const name = named.exec(only);
  return name === null ? undefined : { to: `${name[1]}.${name[2]}`, verb: "any", path: undefined };
}

const verbOf = (word = ""): string => (/^(route|all)$/i.test(word) ? "any" : word.toLowerCase());

const router = /^\w*(app|router|routes|server|api)$/i;

/** `app.get("/path", handler)`, where making the handlers does nothing. */
function calledOn(statement: Code): Announcement | undefined {
  const [call] = partsOf(statement);
  const callee = call?.node.type === "call_expression" ? fieldOf(call, "function") : undefined;
  const [object, property] = [callee && fieldOf(callee, "object"), callee && fieldOf(callee, "property")];
  const list = call && fieldOf(call, "arguments");
  if (object === undefined || property === undefined || list === undefined) return undefined;
  const [path, ...handlers] = partsOf(list);
  const verb = textOf(property);
  if (!router.test(textOf(object)) || !new RegExp(`^(${verbs})$`).test(verb)) return undefined;
  if (path?.node.type !== "string" || handlers.length === 0 || !handlers.every(isQuiet)) return undefined;
  return { to: textOf(object), verb, path: textOf(path).slice(1, -1) };
}

/** No request fits both paths: they differ in a step that is fixed in both, or in their number of steps. */
function areDisjoint(one: string, other: string): boolean {
  const [left, right] = [stepsOf(one), stepsOf(other)];
  if (left === undefined || right === undefined) return false;
  if (left.length !== right.length) return true;
  return left.some((step, index) => {
    const opposite = right[index] ?? "";
    return isFixed(step) && isFixed(opposite) && step.toLowerCase() !== opposite.toLowerCase();
  });
}

const isFixed = (step: string): boolean => /^[\w.~-]*$/.test(step);

/** Undefined for patterns that may stand for any number of steps. */
function stepsOf(path: string): string[] | undefined {
  if (/[*?+()\\^$]|<path:|:path\b/.test(path)) return undefined;
  return path.split("/").filter((step) => step !== "");
}
