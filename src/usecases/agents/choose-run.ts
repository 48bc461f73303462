import type { Agent } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { refusedTarget } from "../merge/landing/landing-target.ts";
import type { Context } from "../usecase.ts";
import type { SlingRequest } from "./sling-request.ts";

/** The word of `--run` that begins another run. */
const newRun = "new";

/**
 * The run of the parent; for an agent of the operator the newest active run, under any leader, unless `--run` names
 * another or a new one. Undefined: a new one.
 */
export async function chooseRun(
  tx: Tx,
  caller: Caller,
  { run: named }: SlingRequest,
  parent: Agent | null,
): Promise<Result<Run | undefined, Refusal>> {
  if (named === undefined) return parent === null ? ok(await tx.runs.current()) : runOfParent(tx, caller, parent);
  if (caller.kind === "agent") {
    const why = "what an agent slings belongs to its own run";
    return no({ kind: "not-allowed", action: "sling --run", caller: caller.name, why });
  }
  if (parent !== null && named !== parent.runId) {
    return no(
      invalid("run", `must be that of the parent, ${parent.runId}; leave out --run or --parent`, { value: named }),
    );
  }
  if (named === newRun) return ok(undefined);
  const run = await tx.runs.get(named);
  if (run === undefined) return no(notFound("run", named));
  if (run.status === "active") return ok(run);
  return no(
    invalid("run", "has ended; --run new begins another, and ov run list shows those that are active", {
      value: named,
    }),
  );
}

/** Agents of a run that has ended may finish what they have begun. No new agent is started in the run. */
async function runOfParent(tx: Tx, caller: Caller, parent: Agent): Promise<Result<Run | undefined, Refusal>> {
  const run = await tx.runs.get(parent.runId);
  if (run === undefined || run.status === "active") return ok(run);
  if (caller.kind !== "agent") {
    const problem = `belongs to run ${run.id}, which has ended; leave out --parent`;
    return no(invalid("parent", problem, { value: parent.name }));
  }
  const why = "the run has ended; tell the operator what is left, and end your turn";
  return no({ kind: "not-allowed", action: `sling into ${run.id}`, caller: caller.name, why });
}

/** The target of the run that the agent joins. A new run is for the typed branch, else for its parent's, else for the one checked out here. */
export async function chooseTarget(
  tx: Tx,
  context: Context,
  { targetBranch: typed, currentBranch }: SlingRequest,
  { run, parent }: { readonly run: Run | undefined; readonly parent: Agent | null },
): Promise<Result<string | null, Refusal>> {
  if (run === undefined) {
    const above = parent === null ? undefined : await tx.runs.get(parent.runId);
    if (typed === undefined && above?.targetBranch != null) return ok(above.targetBranch);
    const target = typed ?? currentBranch ?? null;
    const refused = target === null ? undefined : await refusedTarget(tx, context, target, "target");
    return refused === undefined ? ok(target) : no(refused);
  }
  const target = run.targetBranch ?? context.settings.project.canonicalBranch;
  if (typed === undefined || typed === target) return ok(run.targetBranch);
  return no(
    invalid("target", `is not that of run ${run.id}, which is for ${target}; a run of its own: --run new`, {
      value: typed,
    }),
  );
}
