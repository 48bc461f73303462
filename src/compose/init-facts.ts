import { basename } from "node:path";
import { loadConfig } from "../config/load.ts";
import type { Detected } from "../config/render.ts";
import { branchName } from "../config/schema/shape.ts";
import { configFiles, type Environment } from "../config/sources.ts";
import { Failure } from "../domain/failure.ts";
import type { DetectedGate } from "../domain/project/gate.ts";
import { detectGates, gateFiles } from "../domain/project/gates.ts";
import { projectName } from "../domain/project/name.ts";
import type { InvalidInput } from "../domain/refusal.ts";
import { ok, type Result } from "../domain/result.ts";
import { installedRuntimes } from "../host/project/coding-agents.ts";
import { readTexts } from "../host/project/files.ts";
import type { Repository } from "../host/project/repository.ts";
import { programProblem } from "../host/runtime-probe.ts";
import { runtimeById } from "./runtimes.ts";

/** What a project is, with what its owner should be told about that. */
export interface ProjectFacts extends Detected {
  readonly gates: readonly DetectedGate[];
  readonly warnings: readonly string[];
}

interface Question {
  readonly repository: Repository;
  readonly env: Environment;
  readonly name: string | undefined;
}

/** Facts found in the repository and on this machine, for a project that is to be set up. */
export async function detectFacts({ repository, env, name }: Question): Promise<Result<ProjectFacts, InvalidInput>> {
  const { root, originUrl, originBranch, branch } = repository;
  const called = projectName({ typed: name, originUrl, directory: basename(root) });
  if (!called.ok) return called;
  const installed = installedRuntimes(env.PATH);
  const runtime = await firstThatStarts(installed, env.PATH ?? "");
  const gates = detectGates(readTexts(root, gateFiles));
  return ok({
    name: called.value,
    canonicalBranch: [originBranch, branch].find((found) => found !== undefined && branchName.fits(found)) ?? "main",
    runtime: runtime ?? "claude",
    gates,
    warnings: [...(runtime === undefined ? [noRuntime(installed)] : []), ...(gates.length === 0 ? [noGate] : [])],
  });
}

/** Facts as the project's own configuration has them. One that cannot be used is never replaced unasked. */
export async function configuredFacts({ repository, env, name }: Question): Promise<ProjectFacts> {
  const files = configFiles({ root: repository.root, state: repository.state });
  // Without the environment: a variable of this shell is not a property of the project.
  const { config, ok: usable, problems } = await loadConfig(files, {});
  if (!usable) {
    const told = problems.map(({ key, message, file, line }) => ({ field: key, problem: message, file, line }));
    throw new Failure({ kind: "config-invalid", path: files.project, problems: told });
  }
  const { project, runtime } = config;
  const gates = project.qualityGates.map(({ name: called, command, description }) => ({
    name: called,
    command,
    description,
    from: "config.yaml",
  }));
  const program = runtimeById(runtime.default)?.program;
  const absent = program !== undefined && (await programProblem({ program, path: env.PATH ?? "" })) !== undefined;
  const renamed = name !== undefined && name !== project.name;
  return {
    name: project.name,
    canonicalBranch: project.canonicalBranch,
    runtime: runtime.default,
    gates,
    warnings: [
      ...(renamed ? [`the project keeps its name "${project.name}"; change it with: ov config set project.name`] : []),
      ...(absent ? [`no agent can start before ${program} can: check with: ${program} --version`] : []),
      ...(gates.length === 0 ? [noGate] : []),
    ],
  };
}

/** Of those that are installed, the first that this program can drive and that answers. */
async function firstThatStarts(installed: readonly string[], path: string): Promise<string | undefined> {
  for (const id of installed) {
    const program = runtimeById(id)?.program;
    if (program !== undefined && (await programProblem({ program, path })) === undefined) return id;
  }
  return undefined;
}

function noRuntime(installed: readonly string[]): string {
  const found =
    installed.length === 0 ? "no coding agent was found on PATH" : `${installed.join(" and ")} cannot be used here yet`;
  return `${found}, so no agent can start before claude can: install it, and check with: claude --version`;
}

const noGate =
  "no quality gate is known, so each landing will wait for your approval; " +
  `set one with: ov config set project.qualityGates '[{"name":"Tests","command":"make test"}]'`;
