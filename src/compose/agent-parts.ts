import { join } from "node:path";
import type { Agent } from "../domain/agent/agent.ts";
import { decide, type GuardRequest } from "../domain/guard/decide.ts";
import { type GuardedAgent, type GuardPolicy, guardPolicyOf } from "../domain/guard/policy.ts";
import type { Verdict } from "../domain/guard/tool-use.ts";
import type { RoleSpec } from "../domain/role/role-spec.ts";
import { roleOf } from "../domain/role/roles.ts";
import { agentInstructions, placedPaths } from "../host/agent-instructions.ts";
import type { OpenRepository } from "../host/git/repository.ts";
import { gitWorktrees } from "../host/git/worktrees.ts";
import { placeOvShim, selfCommand, serviceEnvironment, shimDir } from "../host/own-program.ts";
import { gatePlaces } from "../host/project-place.ts";
import { projectSandbox, type SandboxTerms } from "../host/sandbox/project-sandbox.ts";
import { guardMachine } from "../host/tool-guard.ts";
import type { Instructions } from "../ports/instructions.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { WorktreeKeeping } from "../ports/worktrees.ts";
import type { Project } from "./project.ts";
import { builtInTexts } from "./role-texts.ts";
import { allRuntimes, steeringFiles } from "./runtimes.ts";

/** The worktrees of the agents of a project. No hot command needs them, nor anything else of this file. */
export function projectWorktrees(project: Project, repository?: OpenRepository): WorktreeKeeping {
  const { root, dir, config, runtimeFiles, env } = project;
  const sandbox = sandboxOf(project);
  return gitWorktrees(root, {
    // An agent may swap a directory for a link while we read it. What git sees there then is what the agent sees.
    confine: (reads, scratch) =>
      sandbox.confines("clone")
        ? sandbox.forGate({ place: scratch, reads, env: serviceEnvironment(env, root), shells: [] })?.before
        : undefined,
    repository,
    state: dir,
    maxFileBytes: config.snapshot.maxFileBytes,
    include: config.worktree.include,
    // Files of ours in a worktree are not work.
    deployed: allRuntimes(runtimeFiles.specs).flatMap(({ instructionFile }) => placedPaths(instructionFile)),
  });
}

/** What confines the programs of a project. */
export const sandboxOf = (project: Project): Sandbox => projectSandbox(sandboxTerms(project));

const sandboxTerms = ({ root, dir, config, runtimeFiles }: Project): SandboxTerms => ({
  root,
  state: dir,
  settings: config.sandbox,
  workplaces: [join(root, config.worktrees.baseDir), gatePlaces(root)],
  footprints: allRuntimes(runtimeFiles.specs).map(({ footprint }) => footprint),
  self: selfCommand(),
  shimDir: shimDir(dir),
});

/** The instructions of the agents of a project. */
export const projectInstructions = (project: Project): Instructions =>
  agentInstructions({
    root: project.root,
    state: project.dir,
    settings: project.config,
    builtIn: builtInTexts,
    policyOf: (role, agent, worktreeKind) => policyOf(project, role, { ...agent, worktreeKind }),
    self: selfCommand(),
    placeProgram: () => placeOvShim(project.dir),
  });

/** The guard for agents that ask during a turn. Its rules are made here, not read from a file that an agent could reach. */
export async function agentGuard(project: Project, agent: Agent): Promise<(request: GuardRequest) => Verdict> {
  const policy = policyOf(project, roleOf(agent.capability), agent);
  const machine = await guardMachine(project.env);
  return (request) => decide(request, policy, machine);
}

/** The rules of a builder that works in this directory. */
export const builderRules = (project: Project, worktreePath: string): GuardPolicy =>
  policyOf(project, roleOf("builder"), {
    name: "builder",
    taskId: null,
    worktreePath,
    worktreeKind: "linked",
    scope: [],
    shares: [],
  });

type DescribedAgent = Omit<GuardedAgent, "isConfined"> &
  Pick<Agent, "worktreeKind"> &
  Partial<Pick<Agent, "runtimeSpec">>;

/** The rules of an agent of this project. */
function policyOf(project: Project, role: RoleSpec, { worktreeKind, ...agent }: DescribedAgent): GuardPolicy {
  const { root, dir, config, runtimeFiles } = project;
  // What steers an agent is kept from it also when the file that describes its runtime is gone.
  const specs = [...runtimeFiles.specs, ...(agent.runtimeSpec == null ? [] : [agent.runtimeSpec])];
  // An agent in the checkout of the project has no copy to change.
  const isConfined = worktreeKind === "clone" && sandboxOf(project).confines(worktreeKind);
  return guardPolicyOf(
    role,
    { ...agent, isConfined },
    {
      root,
      state: dir,
      gates: config.project.qualityGates,
      steering: steeringFiles(specs),
      off: config.sandbox.mode === "off",
    },
  );
}
