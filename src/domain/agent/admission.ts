import { isReserved } from "../name/name.ts";
import { invalid, type Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import type { Agent } from "./agent.ts";
import { hasEnded } from "./agent.ts";
import { type Capability, maySpawn } from "./capability.ts";

export interface AdmissionRequest {
  readonly name: string;
  readonly capability: Capability;
  readonly taskId: string | null;
}

/** Read in the transaction that will reserve the seat, so that no two callers see the same free one. */
export interface AdmissionFacts {
  readonly run: { readonly id: string; readonly agentsEver: number };
  /** Null: the operator is the parent. */
  readonly parent: Pick<Agent, "name" | "capability" | "depth" | "state"> | null;
  readonly liveChildren: number;
  /** The latest incarnation of the wanted name. */
  readonly namesake: Pick<Agent, "name" | "state" | "releasedAt"> | null;
  /** Live agents that already have this task. */
  readonly holders: readonly Pick<Agent, "name" | "capability">[];
  readonly limits: { readonly maxDepth: number; readonly maxSessionsPerRun: number; readonly maxAgentsPerLead: number };
}

/** May this agent join the run? The caller brings the facts; this file is the rule. A limit of 0 means none. */
export function admit(request: AdmissionRequest, facts: AdmissionFacts): Result<{ depth: number }, Refusal> {
  const { parent, limits, run } = facts;
  if (isReserved(request.name)) return no(invalid("name", "is a reserved address", { value: request.name }));
  const depth = parent === null ? 1 : parent.depth + 1;
  if (depth > limits.maxDepth) return no({ kind: "too-deep", depth, limit: limits.maxDepth });
  if (parent !== null) {
    if (hasEnded(parent)) return no({ kind: "parent-ended", parent: parent.name, state: parent.state });
    const spawn = maySpawn(parent, request.capability);
    if (!spawn.ok) return spawn;
    if (limits.maxAgentsPerLead > 0 && facts.liveChildren >= limits.maxAgentsPerLead) {
      return no({ kind: "parent-full", parent: parent.name, limit: limits.maxAgentsPerLead });
    }
  }
  if (limits.maxSessionsPerRun > 0 && run.agentsEver >= limits.maxSessionsPerRun) {
    return no({ kind: "run-full", run: run.id, limit: limits.maxSessionsPerRun });
  }
  const { namesake } = facts;
  if (namesake !== null && (!hasEnded(namesake) || namesake.releasedAt === null)) {
    return no({ kind: "name-taken", name: namesake.name, state: namesake.state });
  }
  const holder = facts.holders.find((other) => excludes(other, request, parent?.name));
  if (holder !== undefined) return no({ kind: "task-held", task: request.taskId ?? "", holder: holder.name });
  return ok({ depth });
}

/** Only a second implementer or a second lead is kept off a task; a parent may hand its own task down. */
function excludes(
  holder: Pick<Agent, "name" | "capability">,
  request: AdmissionRequest,
  parent: string | undefined,
): boolean {
  if (holder.name === parent) return false;
  const isImplementer = (capability: Capability): boolean => capability === "builder" || capability === "merger";
  if (request.capability === "lead") return holder.capability === "lead";
  return isImplementer(request.capability) && isImplementer(holder.capability);
}
