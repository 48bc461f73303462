import { ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { changeBroughtBy } from "../merge/look-ahead.ts";
import type { Effect } from "../operation.ts";
import { type Diff, type DiffForm, diffFields, readDiff } from "./read-diff.ts";

export interface MergeDiffRequest extends DiffForm {
  /** The number of an entry of the merge queue, or its branch. */
  readonly of: string;
}

/** What a branch in the merge queue changes. */
export interface MergeDiff extends Diff {
  readonly id: number;
  readonly branch: string;
  readonly base: string;
  readonly head: string;
}

/** What an entry of the merge queue brought, or would bring now, for a page: file by file, in hunks. */
export const showMergeDiff: Effect<MergeDiffRequest, MergeDiff> = {
  kind: "effect",
  request: fields({ of: text }, diffFields),
  place: "engine",
  run: async (world, { of, ...form }) => {
    const found = await world.call("merge.readEntry", { of });
    if (!found.ok) return found;
    const { entry } = found.value;
    const settings = await world.settings();
    return world.lookAhead(async (git) => {
      const change = await changeBroughtBy(git, entry);
      if (!change.ok) return change;
      const diff = await readDiff(git, { ...change.value, form, settings, area: null });
      const { from: base, to: head } = change.value;
      return diff.ok ? ok({ id: entry.id, branch: entry.branch, base, head, ...diff.value }) : diff;
    });
  },
};
