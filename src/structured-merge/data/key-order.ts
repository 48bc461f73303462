import { unsure } from "../outcome.ts";
import { type Path, spelled } from "./merge-values.ts";
import { sameValue, type Value } from "./value.ts";

/** Gives up where the order of keys has a meaning and one side changed it while the other changed anything there. */
export function checkOrder(
  { base, ours, theirs }: { base: Value; ours: Value; theirs: Value },
  ordered: (path: Path) => boolean,
  path: Path = [],
): void {
  if (base.kind !== "map" || ours.kind !== "map" || theirs.kind !== "map") return;
  if (ordered(path)) {
    const clash = (mover: MapValue, other: MapValue): boolean =>
      isReordered(base, mover) && (!sameValue(base, other) || isReordered(base, other));
    const alike = [...ours.entries.keys()].join("\n") === [...theirs.entries.keys()].join("\n");
    if (!alike && (clash(ours, theirs) || clash(theirs, ours))) unsure(`${spelled(path)} was put in another order`);
  }
  for (const [key, value] of base.entries) {
    const [mine, other] = [ours.entries.get(key), theirs.entries.get(key)];
    if (mine !== undefined && other !== undefined)
      checkOrder({ base: value, ours: mine, theirs: other }, ordered, [...path, key]);
  }
}

type MapValue = Extract<Value, { kind: "map" }>;

function isReordered(base: MapValue, side: MapValue): boolean {
  const kept = [...base.entries.keys()].filter((key) => side.entries.has(key));
  const now = [...side.entries.keys()].filter((key) => base.entries.has(key));
  return kept.join("\n") !== now.join("\n");
}
