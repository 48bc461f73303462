import { alignThree, type Chunk } from "../lines/align.ts";
import { unsure } from "../outcome.ts";
import { meaning, type Part } from "./document-tree.ts";
import { type Path, spelled } from "./merge-values.ts";
import { adopted, untied } from "./part-text.ts";
import type { Branches, Merging } from "./tree-merge.ts";
import { areResources, canon, counterparts } from "./value.ts";

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
  const pairs = chunk.stable ? base.map((_, at) => ({ base: at, ours: at, theirs: at })) : counterpartsOf(chunk);
  const here = [...path, `[${index}]`];
  if (pairs !== undefined) {
    return pairs.flatMap((pair) => {
      const [part, mine, other] = [base[pair.base], ours[pair.ours], theirs[pair.theirs]];
      if (part !== undefined && mine !== undefined && other !== undefined) {
        return [merging.part({ base: part, ours: mine, theirs: other }, [...path, `[${index + pair.base}]`])];
      }
      untied(here, merging, part?.value, mine?.value, other?.value);
      // Gone on one side at least; that the other left it alone is decided on values.
      if (part !== undefined) return [];
      if (other !== undefined) return [adopted({ part: other, into: sides.ours, path: here, habits: merging })];
      return mine ?? [];
    });
  }
  untied(here, merging, ...[...base, ...ours, ...theirs].map(({ value }) => value));
  const fresh = [...ours, ...theirs].map(({ value }) => meaning(value));
  const bothAdded = base.length === 0 && ours.length > 0 && theirs.length > 0 && o !== t;
  if (bothAdded && path.length === 0 && areResources(fresh)) {
    return [...ours, ...theirs.map((part) => adopted({ part, into: sides.ours, path: here, habits: merging }))];
  }
  if (o === t || b === t) return ours;
  if (b !== o) return unsure(`both sides changed the same place of the list ${spelled(path)}`);
  return theirs.map((part) => adopted({ part, into: sides.ours, path: here, habits: merging }));
}

/** Items known by id, key or name, none of them new: each can be merged with its counterparts. */
function counterpartsOf({ base, ours, theirs }: Chunk<Part>): ReturnType<typeof counterparts> {
  const values = (parts: readonly Part[]) => parts.map((part) => meaning(part.value));
  return counterparts(values(base), values(ours), values(theirs));
}
