import type { Branches, Merging } from "./merging.ts";
import { type Path, spelled } from "./model.ts";
import { unsure } from "./outcome.ts";
import { adopted, untied } from "./place.ts";
import { alignThree, type Chunk } from "./sequence.ts";
import { meaning, type Part } from "./tree.ts";
import { canon, distinctIdentities } from "./value.ts";

/** The items of a list, which have an order: edits of the two sides must have an unchanged item between them. */
export function mergeListParts(sides: Branches, path: Path, merging: Merging): readonly Part[] {
  const lists = { base: sides.base.parts, ours: sides.ours.parts, theirs: sides.theirs.parts };
  let index = 0;
  return alignThree(lists, keyOf).flatMap((chunk) => {
    const parts = settled({ chunk, sides, path, merging, index });
    index += chunk.base.length;
    return parts;
  });
}

const keyOf = (part: Part): string => canon(meaning(part.value));

interface Place {
  readonly chunk: Chunk<Part>;
  readonly sides: Branches;
  readonly path: Path;
  readonly merging: Merging;
  /** Of the chunk's first item in the base. */
  readonly index: number;
}

function settled({ chunk, sides, path, merging, index }: Place): readonly Part[] {
  const { base, ours, theirs } = chunk;
  const [b, o, t] = [base, ours, theirs].map((parts) => parts.map(keyOf).join("\n"));
  if (chunk.stable || pairable(chunk)) {
    return base.flatMap((part, at) => {
      const [mine, other] = [ours[at], theirs[at]];
      if (mine === undefined || other === undefined) return [];
      return [merging.part({ base: part, ours: mine, theirs: other }, [...path, `[${index + at}]`])];
    });
  }
  const here = [...path, `[${index}]`];
  untied(here, merging, ...[...base, ...ours, ...theirs].map(({ value }) => value));
  if (o === t || b === t) return ours;
  if (b !== o) return unsure(`both sides changed the same place of the list ${spelled(path)}`);
  return theirs.map((part) => adopted({ part, into: sides.ours, path: here, habits: merging }));
}

/** The same items by id, key or name in all three: each can be merged with its counterparts. */
function pairable({ base, ours, theirs }: Chunk<Part>): boolean {
  const [b, o, t] = [base, ours, theirs].map((parts) =>
    distinctIdentities(parts.map((part) => meaning(part.value)))?.join("\n"),
  );
  return base.length > 0 && b !== undefined && b === o && b === t;
}
