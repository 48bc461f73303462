import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";
import { type Diff, type DiffForm, diffFields, readDiff } from "./read-diff.ts";

export interface CompareRequest extends DiffForm {
  /** Commits, branches or tags. */
  readonly from: string;
  readonly to: string;
}

export interface Comparison extends Diff {
  readonly base: string;
  readonly head: string;
}

/** What changed between two commits, for a page: file by file, in hunks. */
export const compareCommits: Effect<CompareRequest, Comparison> = {
  kind: "effect",
  request: fields({ from: text, to: text }, diffFields),
  place: "engine",
  run: async (world, { from, to, ...form }) => {
    const settings = await world.settings();
    return world.lookAhead(async (git) => {
      const [base, head] = [await git.commitOf(from), await git.commitOf(to)];
      if (base === undefined) return no(invalid("from", "is no commit of this repository", { value: from }));
      if (head === undefined) return no(invalid("to", "is no commit of this repository", { value: to }));
      const diff = await readDiff(git, { from: base, to: head, form, settings, area: null });
      return diff.ok ? ok({ base, head, ...diff.value }) : diff;
    });
  },
};
