import type { CauseDetail, MergeCause } from "../entry.ts";
import type { EntryOutcome, Member, Tip, TrainEntry } from "./member.ts";
import type { TrainSteps } from "./steps.ts";

/** An entry that could not be merged onto the first `after` members; final only once exactly those have landed. */
export interface Stop<E extends TrainEntry> {
  readonly entry: E;
  readonly after: number;
  readonly cause: MergeCause;
  readonly detail: CauseDetail;
}

export interface Assembled<E extends TrainEntry> {
  /** What the base holds already. */
  readonly held: readonly Member<E>[];
  readonly members: readonly Member<E>[];
  readonly stops: readonly Stop<E>[];
  /** Entries whose dependencies cannot land any more, with those dependencies. */
  readonly waiting: readonly { readonly entry: E; readonly on: readonly number[] }[];
}

export interface AssembleRequest<E extends TrainEntry> {
  readonly base: Tip;
  readonly open: readonly E[];
  readonly settled: ReadonlyMap<number, EntryOutcome>;
  readonly batchSize: number;
}

/** Chains entries onto the base in their order, leaving out what does not merge or has to come after something else. */
export async function assemble<E extends TrainEntry>(
  steps: Pick<TrainSteps<E>, "merge">,
  { base, open, settled, batchSize }: AssembleRequest<E>,
): Promise<Assembled<E>> {
  const held: Member<E>[] = [];
  const members: Member<E>[] = [];
  const stops: Stop<E>[] = [];
  const waiting: { entry: E; on: readonly number[] }[] = [];
  const missing = new Set(open.map(({ id }) => id));
  for (const entry of open) {
    if (members.length >= batchSize) break;
    const lost = entry.dependsOn.filter((id) => settled.has(id) && settled.get(id)?.kind !== "landed");
    if (lost.length > 0) {
      waiting.push({ entry, on: lost });
      continue;
    }
    if (entry.dependsOn.some((id) => missing.has(id))) continue;
    const onto = members.at(-1)?.tip ?? base;
    const answer = await steps.merge(onto.commit, entry);
    if (answer.kind === "stopped") {
      stops.push({ entry, after: members.length, cause: answer.cause, detail: answer.detail });
      continue;
    }
    const { commit, tree, tier, strategy } = answer;
    const line = commit === base.commit ? held : members;
    line.push({ entry, tip: { commit, tree }, tier, strategy });
    missing.delete(entry.id);
  }
  return { held, members, stops, waiting };
}
