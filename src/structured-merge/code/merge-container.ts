import { fallsApart } from "./fall-through.ts";
import { mergeText } from "./merge-block.ts";
import { mergeUnits, type UnitMerge } from "./merge-units.ts";
import { no, ok, type Result } from "./result.ts";
import { runsTogether } from "./run-together.ts";
import { split } from "./split.ts";
import { type Code, eachOf, fieldOf, type Triple, textOf } from "./syntax.ts";
import type { Container } from "./unit.ts";
import { valueCollision } from "./value-collision.ts";
import { commonLayout, render } from "./write-container.ts";

/** Merges a keyed container unit by unit; one that cannot be cut without doubt is merged as text. */
export function mergeContainer(versions: Triple<Code>, merge: UnitMerge): Result<string, string> {
  const { base, ours, theirs } = eachOf(versions, split);
  if (base === undefined || ours === undefined || theirs === undefined) return mergeText(versions);
  const text = mergeSplit({ base, ours, theirs }, merge, { fewestValues: isEnumeration(versions.base) ? 1 : 2 });
  if (!text.ok || versions.ours.node.type !== "class_definition") return text;
  // A Python class ends where its last statement does; the newline after it is not its own.
  return ok(text.value.replace(/\n$/, ""));
}

/** Values of an enumeration are told apart by definition; of other containers only where there is a series of them. */
function isEnumeration(code: Code): boolean {
  const bases = fieldOf(code, "superclasses");
  return code.node.type === "enum_body" || (bases !== undefined && /(Enum|Flag)\b/.test(textOf(bases)));
}

/** The same for versions that are cut already. */
export function mergeSplit(
  versions: Triple<Container>,
  merge: UnitMerge,
  { fewestValues }: { readonly fewestValues: number } = { fewestValues: 2 },
): Result<string, string> {
  const layout = commonLayout(versions);
  if (layout === undefined) return no("both sides laid it out differently");
  const units = eachOf(versions, (container) => container.units);
  const merged = mergeUnits(units, merge);
  if (!merged.ok) return merged;
  if (merged.value.length === 0) return no("nothing of it is left");
  const running = layout === "lines" ? runsTogether(units, merged.value) : undefined;
  const problem =
    running ?? fallsApart(units, merged.value) ?? valueCollision(units, merged.value, { fewest: fewestValues });
  if (problem !== undefined) return no(problem);
  const text = render(versions, merged.value, layout);
  return text === undefined ? no("both sides changed what stands around its parts") : ok(text);
}
