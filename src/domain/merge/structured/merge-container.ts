import { no, ok, type Result } from "../../result.ts";
import { fallsApart } from "./fall-through.ts";
import { mergeText } from "./merge-block.ts";
import { mergeUnits, type UnitMerge } from "./merge-units.ts";
import { commonLayout, render } from "./render.ts";
import { runsTogether } from "./run-together.ts";
import { split } from "./split.ts";
import { type Code, eachOf, type Triple } from "./syntax.ts";
import type { Container } from "./unit.ts";
import { valueCollision } from "./values.ts";

/** Merges a keyed container unit by unit; one that cannot be cut without doubt is merged as text. */
export function mergeContainer(versions: Triple<Code>, merge: UnitMerge): Result<string, string> {
  const { base, ours, theirs } = eachOf(versions, split);
  if (base === undefined || ours === undefined || theirs === undefined) return mergeText(versions);
  const text = mergeSplit({ base, ours, theirs }, merge);
  if (!text.ok || versions.ours.node.type !== "class_definition") return text;
  // A Python class ends where its last statement does; the newline after it is not its own.
  return ok(text.value.replace(/\n$/, ""));
}

/** The same for versions that are cut already. */
export function mergeSplit(versions: Triple<Container>, merge: UnitMerge): Result<string, string> {
  const layout = commonLayout(versions);
  if (layout === undefined) return no("both sides laid it out differently");
  const units = eachOf(versions, (container) => container.units);
  const merged = mergeUnits(units, merge);
  if (!merged.ok) return merged;
  if (merged.value.length === 0) return no("nothing of it is left");
  const running = layout === "lines" ? runsTogether(units, merged.value) : undefined;
  const problem = running ?? fallsApart(units, merged.value) ?? valueCollision(units, merged.value);
  if (problem !== undefined) return no(problem);
  const text = render(versions, merged.value, layout);
  return text === undefined ? no("both sides changed what stands around its parts") : ok(text);
}
