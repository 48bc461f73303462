import type { Agent } from "../domain/agent/agent.ts";
import { decide, type GuardRequest } from "../domain/guard/decide.ts";
import type { GuardMeans } from "../domain/guard/means.ts";
import { type GuardedAgent, type GuardPolicy, guardPolicyOf } from "../domain/guard/policy.ts";
import type { Verdict } from "../domain/guard/verdict.ts";
import type { RoleSpec } from "../domain/role/role-spec.ts";
import { roleOf } from "../domain/role/roles.ts";
import { realPathOf } from "../host/real-path.ts";
import type { Environment, Project } from "./project.ts";
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
  const means = await guardMeans(project.env);
  return (request) => decide(request, policy, means);
}

/** What the guard must know of this machine. The shell's grammar is loaded when it is needed. */
export async function guardMeans(env: Environment): Promise<GuardMeans> {
  const { parseShell } = await import("../host/syntax/shell.ts");
  const temporary = ["/tmp", "/var/tmp", env.TMPDIR ?? ""].filter((dir) => dir.startsWith("/") && dir !== "/");
  return { parse: parseShell, places: { realPath: realPathOf, home: env.HOME, temporary } };
}
