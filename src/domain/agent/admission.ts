import { isFolderName, isMisleading, isReserved } from "../name/name.ts";
import { invalid, type LimitSource, type Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import type { Agent } from "./agent.ts";
import { hasEnded } from "./agent.ts";
import { type Capability, isIn, maySpawn } from "./capability.ts";
import { statusOf } from "./status.ts";

export interface AdmissionRequest {
  readonly name: string;
  readonly capability: Capability;
  readonly taskId: string | null;
  /** The operator insists: the spawn matrix does not bind. */
  readonly forceHierarchy?: boolean;
  /** Replaces the configured number of children for this spawn. */
  readonly maxAgents?: { readonly limit: number; readonly limitFrom: LimitSource };
}

/** What the operator may sling without saying more; the others make sense only below a lead. */
export const operatorMay: readonly Capability[] = ["lead", "scout", "builder"];

/** Read in the transaction that will reserve the seat, so that no two callers see the same free one. */
export interface AdmissionFacts {
  readonly run: { readonly id: string; readonly agentsEver: number };
  /** Null: the operator is the parent. */
  readonly parent: Pick<Agent, "name" | "capability" | "depth" | "state"> | null;
  readonly liveChildren: number;
  /** The latest incarnation of the wanted name. */
  readonly namesake: Pick<Agent, "name" | "state" | "outcome" | "releasedAt"> | null;
  /** Live agents that already have this task. */
  readonly holders: readonly Pick<Agent, "name" | "capability">[];
  readonly limits: { readonly maxDepth: number; readonly maxSessionsPerRun: number; readonly maxAgentsPerLead: number };
  /** Which file or variable set a limit, by key. */
  readonly limitSources?: Readonly<Record<string, string>> | undefined;
}

/** May this agent join the run? The caller brings the facts; this file is the rule. A limit of 0 means none. */
export function admit(request: AdmissionRequest, facts: AdmissionFacts): Result<{ depth: number }, Refusal> {
  const { parent, limits, run } = facts;
  // The reserved names belong to the persistent agents, who take them with the operator's word.
  if (isReserved(request.name) && !isIn("persistent", request.capability))
    return no(invalid("name", "is a reserved address", { value: request.name }));
  if (isMisleading(request.name))
    return no(invalid("name", "would be taken for a part of the program; choose another", { value: request.name }));
  if (isFolderName(request.name))
    return no(invalid("name", "is the name of a folder of ours; choose another", { value: request.name }));
  const depth = parent === null ? (isIn("persistent", request.capability) ? 0 : 1) : parent.depth + 1;
  if (depth > limits.maxDepth) {
    return no({ kind: "too-deep", depth, limit: limits.maxDepth, limitFrom: limitFrom("agents.maxDepth", facts) });
  }
  if (parent !== null && hasEnded(parent))
    return no({ kind: "parent-ended", parent: parent.name, state: parent.state });
  const ranked = request.forceHierarchy === true ? ok(null) : checkRank(request, parent);
  if (!ranked.ok) return ranked;
  const children = request.maxAgents ?? {
    limit: limits.maxAgentsPerLead,
    limitFrom: limitFrom("agents.maxAgentsPerLead", facts),
  };
  if (parent !== null && children.limit > 0 && facts.liveChildren >= children.limit) {
    return no({ kind: "parent-full", parent: parent.name, children: facts.liveChildren, ...children });
  }
  const limit = limits.maxSessionsPerRun;
  if (limit > 0 && run.agentsEver >= limit) {
    const from = limitFrom("agents.maxSessionsPerRun", facts);
    return no({ kind: "run-full", run: run.id, agents: run.agentsEver, limit, limitFrom: from });
  }
  const { namesake } = facts;
  if (namesake !== null && (!hasEnded(namesake) || namesake.releasedAt === null)) {
    return no({ kind: "name-taken", name: namesake.name, state: statusOf(namesake).words });
  }
  const holder = facts.holders.find((other) => excludesFromTask(other, request, parent?.name));
  if (holder !== undefined) return no({ kind: "task-held", task: request.taskId ?? "", holder: holder.name });
  return ok({ depth });
}

const limitFrom = (key: string, { limitSources }: AdmissionFacts): LimitSource => ({
  key,
  source: limitSources?.[key] ?? null,
});

function checkRank(request: AdmissionRequest, parent: AdmissionFacts["parent"]): Result<unknown, Refusal> {
  if (parent !== null) return maySpawn(parent, request.capability);
  if (operatorMay.includes(request.capability)) return ok(null);
  return no({ kind: "may-not-spawn", parent: "operator", capability: request.capability, may: operatorMay });
}

/** Only a second implementer or a second lead is kept off a task; a parent may hand its own task down. */
export function excludesFromTask(
  holder: Pick<Agent, "name" | "capability">,
  request: Pick<AdmissionRequest, "capability">,
  parent: string | undefined,
): boolean {
  if (holder.name === parent) return false;
  const isImplementer = (capability: Capability): boolean => capability === "builder" || capability === "merger";
  if (request.capability === "lead") return holder.capability === "lead";
  return isImplementer(request.capability) && isImplementer(holder.capability);
}
