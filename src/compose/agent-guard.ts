import type { Agent } from "../domain/agent/agent.ts";
import { decide, type GuardRequest } from "../domain/guard/decide.ts";
import { type GuardedAgent, type GuardPolicy, guardPolicyOf } from "../domain/guard/policy.ts";
import type { Verdict } from "../domain/guard/tool-use.ts";
import type { RoleSpec } from "../domain/role/role-spec.ts";
import { roleOf } from "../domain/role/roles.ts";
import { guardMachine } from "../host/tool-guard.ts";
import type { Project } from "./project.ts";
import { steeringFiles } from "./runtimes.ts";

/** The rules of an agent of this project. */
export const policyOf = (
  { root, dir, config }: Pick<Project, "root" | "dir" | "config">,
  role: RoleSpec,
  agent: GuardedAgent,
): GuardPolicy =>
  guardPolicyOf(role, agent, { root, state: dir, gates: config.project.qualityGates, steering: steeringFiles() });

/** The guard for agents that ask during a turn. Its rules are made here, not read from a file that an agent could reach. */
export async function agentGuard(project: Project, agent: Agent): Promise<(request: GuardRequest) => Verdict> {
  const policy = policyOf(project, roleOf(agent.capability), agent);
  const machine = await guardMachine(project.env);
  return (request) => decide(request, policy, machine);
}
