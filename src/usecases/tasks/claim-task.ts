import { agentName } from "../../domain/name/name.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { claimTask as claim } from "../../domain/task/change.ts";
import { directs, forbidden } from "../../domain/task/rights.ts";
import { byCaller, record } from "../events/record.ts";
import type { UseCase } from "../usecase.ts";
import { openDependencies } from "./dependency-state.ts";
import { detailOf, type TaskDetail } from "./detail.ts";
import { findTask } from "./find-task.ts";

export interface ClaimTaskRequest {
  readonly id: string;
  /** Whom to give it to; the caller when absent. Only those who direct may name another. */
  readonly by?: string | undefined;
}

/** Takes a task that nobody holds. Of any number of callers exactly one succeeds. */
export const claimTask: UseCase<ClaimTaskRequest, TaskDetail> = {
  kind: "write",
  request: fields({ id: text }, { by: text }),
  run: async (tx, context, { id, by }) => {
    const { caller } = context;
    const holder = agentName(by ?? caller.name, "by");
    if (!holder.ok) return holder;
    const found = await findTask(tx, id);
    if (!found.ok) return found;
    const refused = forbidden(caller, "claim", found.value);
    if (refused !== undefined) return no(refused);
    if (holder.value !== caller.name && !directs(caller)) {
      const why = "an agent claims for itself";
      return no({ kind: "not-allowed", action: `claim for ${holder.value}`, caller: caller.name, why });
    }
    const terms = { by: holder.value, openDependencies: await openDependencies(tx, id) };
    const claimed = claim(found.value, terms, context.now);
    if (!claimed.ok) return claimed;
    if (claimed.value !== found.value) {
      await tx.tasks.update(claimed.value);
      const data = { taskId: id, by: holder.value };
      await record(tx, context.now, { ...byCaller(context.caller, claimed.value.runId), type: "task_claimed", data });
    }
    return ok(await detailOf(tx, claimed.value));
  },
};
