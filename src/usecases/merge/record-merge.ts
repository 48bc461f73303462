import type { EventFact } from "../../domain/event/event.ts";
import type { MergeFacts } from "../../domain/event/event-kinds.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context } from "../usecase.ts";

/** Puts on record what became of an entry, in the name of the caller and about the agent whose branch it is. */
export async function recordMerge(
  tx: Tx,
  { caller, now }: Pick<Context, "caller" | "now">,
  entry: MergeEntry,
  describe: (facts: MergeFacts) => EventFact,
): Promise<void> {
  const { id: queueId, branch, targetBranch, taskId, headCommit, approval, runId, agentName } = entry;
  const facts = { queueId, branch, targetBranch, taskId, headCommit, approval, by: caller.name };
  await record(tx, now, { source: caller.kind, runId, agentName, ...describe(facts) });
}
