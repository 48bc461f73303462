import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Call, Effect } from "../operation.ts";
import { standstill } from "./follow.ts";
import type { PredictedMerge } from "./look-ahead.ts";
import type { MergePreview } from "./queue/add-entry.ts";
import type { QueuedMerge } from "./read-merges.ts";

/** An entry with what the merge worker would make of it now. */
export interface PredictedEntry {
  readonly entry: MergePreview;
  readonly prediction: PredictedMerge;
}

export interface QueuePlan {
  /** In the order in which they would land. */
  readonly predicted: readonly PredictedEntry[];
  /** What cannot land now. `why` is null where nothing but its status says it. */
  readonly waiting: readonly { readonly merge: QueuedMerge; readonly why: string | null }[];
}

/** The order in which branches would land now, and what would happen to each. Changes nothing. */
export const planQueue: Effect<object, QueuePlan> = {
  kind: "effect",
  request: noFields,
  place: "engine",
  run: async ({ call }) => {
    const found = await call("merge.list", {});
    if (!found.ok) return found;
    const { entries } = found.value;
    const open = new Map(entries.map((merge) => [merge.entry.id, merge]));
    const ready = entries.filter(({ place }) => place !== null).toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0));
    const predicted = await predictEach(
      call,
      ready.map(({ entry }) => entry),
    );
    if (!predicted.ok) return predicted;
    const waiting = entries
      .filter(({ place }) => place === null)
      .map((merge) => ({ merge, why: standstill(merge, open) ?? null }));
    return ok({ predicted: predicted.value, waiting });
  },
};

/** Predictions for entries that would land in this order, each target apart. */
export async function predictEach(
  call: Call,
  entries: readonly MergePreview[],
): Promise<Result<readonly PredictedEntry[], Refusal>> {
  const predicted = new Map<MergePreview, PredictedMerge>();
  for (const target of new Set(entries.map(({ targetBranch }) => targetBranch))) {
    const candidates = entries.filter(({ targetBranch }) => targetBranch === target);
    const runId = candidates[0]?.runId ?? null;
    const asked = candidates.map(({ branch, headCommit }) => ({ branch, headCommit }));
    const found = await call("merge.predict", { target, runId, candidates: asked });
    if (!found.ok) return found;
    const { predictions } = found.value;
    for (const [at, entry] of candidates.entries()) {
      const prediction = predictions[at];
      if (prediction !== undefined) predicted.set(entry, prediction);
    }
  }
  return ok([...predicted].map(([entry, prediction]) => ({ entry, prediction })));
}
