import { unsure } from "../outcome.ts";
import { type Branch, meaning, type Node, type Part, print, remarks } from "./document-tree.ts";
import { mergeListParts } from "./merge-list.ts";
import { mergeMapParts } from "./merge-map.ts";
import { dictionaries, type Path, spelled } from "./merge-values.ts";
import { hasComment, indentOf, moved, uniform, untied } from "./part-text.ts";
import type { Branches, Habits, Merging, Three } from "./tree-merge.ts";
import { identityOf, sameValue } from "./value.ts";

/**
 * Ours with the changes of theirs written into it. Text that nobody touched keeps every byte. Where both sides changed
 * the same thing it gives up; comments are checked afterwards, by the caller, over the whole file.
 */
export function mergeTrees(three: Three<Node>, habits: Habits): Node {
  const merging: Merging = {
    ...habits,
    nodes: (inner, path) => mergeNodes(inner, path, merging),
    part: (inner, path) => mergePart(inner, path, merging),
  };
  return merging.nodes(three, []);
}

function mergeNodes(three: Three<Node>, path: Path, merging: Merging): Node {
  const { base, ours, theirs } = three;
  const [textB, textO, textT] = [base, ours, theirs].map((node) => (node === undefined ? undefined : print(node)));
  if (textO === textT || textB === textT) return ours;
  if (textB === textO) return theirs;
  const [b, o, t] = [base && meaning(base), meaning(ours), meaning(theirs)];
  const quiet = (a: Node | undefined, z: Node): boolean => a !== undefined && remarks(a) === remarks(z);
  const branches = [base, ours, theirs].every((node) => node !== undefined && node.kind !== "scalar");
  if (sameValue(o, t) && (!branches || quiet(ours, theirs))) return ours;
  if (sameValue(b, t) && (!branches || quiet(base, theirs))) return ours;
  if (sameValue(b, o) && (!branches || quiet(base, ours))) return theirs;
  const both = `both sides ${base === undefined ? "added" : "changed"} ${spelled(path)}`;
  if (ours.kind === "scalar" || theirs.kind === "scalar" || base?.kind === "scalar") return unsure(both);
  if (base === undefined && !dictionaries.has(path.at(-1) ?? "")) return unsure(both);
  const before = base ?? { ...ours, parts: [] };
  if (ours.kind !== theirs.kind || before.kind !== ours.kind) return unsure(both);
  if ([before, ours, theirs].some((node) => node.special !== undefined)) {
    return unsure(`both sides changed what the anchor or tag at ${spelled(path)} stands for`);
  }
  return mergeBranches({ base: before, ours, theirs }, path, merging);
}

function mergeBranches(sides: Branches, path: Path, merging: Merging): Branch {
  const { base, ours, theirs } = sides;
  if (ours.style !== theirs.style) unsure(`${spelled(path)} is written in two styles`);
  for (const part of [...ours.parts, ...theirs.parts]) {
    if (part.after !== "") unsure(`the commas of ${spelled(path)} are not at the end of their lines`);
  }
  const [b, o, t] = [uniform(base), uniform(ours), uniform(theirs)];
  const merge = ours.kind === "map" ? mergeMapParts : mergeListParts;
  const parts = merge({ base: b.branch, ours: o.branch, theirs: t.branch }, path, merging);
  if (ours.parts.length === 0) return { ...theirs, parts: opened(parts, theirs, t.opening) };
  const opening =
    o.opening === undefined
      ? undefined
      : surroundings({ base: b.opening ?? o.opening, ours: o.opening, theirs: t.opening ?? o.opening });
  return {
    ...ours,
    parts: opened(parts, ours, opening),
    close: surroundings({ base: base.close, ours: ours.close, theirs: theirs.close }),
    trailingComma: parts.length > 0 && ours.trailingComma === true,
  };
}

/** Gives the first part the text its place wants. A comment there may belong to the part that used to be first. */
function opened(parts: readonly Part[], from: Branch, opening: string | undefined): readonly Part[] {
  const [first, ...rest] = parts;
  const [before] = from.parts;
  if (first === undefined || before === undefined || opening === undefined) return parts;
  const [now, then] = [meaning(first.value), meaning(before.value)];
  const same =
    from.kind === "map" ? first.key === before.key : identityOf(now) === identityOf(then) && sameValue(now, then);
  if (!same && hasComment(opening)) unsure("a comment stands before what is no longer first");
  if (hasComment(first.lead)) unsure("a comment stands before what is now first");
  return [{ ...first, lead: opening }, ...rest];
}

/** One part all three have. */
function mergePart(three: { base: Part; ours: Part; theirs: Part }, path: Path, merging: Merging): Part {
  const { base, ours, theirs } = three;
  const value = merging.nodes({ base: base.value, ours: ours.value, theirs: theirs.value }, path);
  const kept = {
    ...ours,
    lead: surroundings({ base: base.lead, ours: ours.lead, theirs: theirs.lead }),
    trail: surroundings({ base: base.trail, ours: ours.trail, theirs: theirs.trail }),
  };
  if (print(ours.value) !== print(base.value) || print(theirs.value) !== print(base.value)) {
    const decidedWhole = value === ours.value || value === theirs.value;
    if (decidedWhole) untied(path, merging, base.value, ours.value, theirs.value);
  }
  if (value !== theirs.value || value === ours.value) return { ...kept, value };
  return { ...kept, ...moved({ part: theirs, to: ours, habits: merging, path }) };
}

/** Comments and whitespace around a part: ours, unless only theirs said something else in its comments. */
function surroundings({ base, ours, theirs }: { base: string; ours: string; theirs: string }): string {
  const words = (text: string): string => text.replace(/\s+/g, " ").trim();
  if (words(ours) !== words(base) || words(theirs) === words(base)) return ours;
  return indentOf(theirs) === indentOf(ours) ? theirs : unsure("a comment is indented differently on the two sides");
}
