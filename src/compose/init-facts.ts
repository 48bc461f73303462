import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { unusableConfig } from "../config/problem.ts";
import { asWritten } from "../config/read.ts";
import type { Detected } from "../config/render.ts";
import { table } from "../config/schema.ts";
import { configFiles, type Environment } from "../config/sources.ts";
import { branchName } from "../domain/name/shape.ts";
import type { DetectedGate } from "../domain/project/gate.ts";
import { detectGates, gateFiles } from "../domain/project/gates.ts";
import { projectName } from "../domain/project/name.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { type SetupCommand, setupCommand, setupFiles } from "../domain/project/setup-command.ts";
import { type UnusableGate, unusableGates } from "../domain/project/unusable-gates.ts";
import type { InvalidInput } from "../domain/refusal.ts";
import { ok, type Result } from "../domain/result.ts";
import { shellWord } from "../domain/text/shell-word.ts";
import { installedRuntimes } from "../host/project/coding-agents.ts";
import { readTexts } from "../host/project/files.ts";
import type { Repository } from "../host/project/repository.ts";
import { readText } from "../host/read-text.ts";
import { probeProgram } from "../host/runtime-probe.ts";
import { runtimeById } from "./runtimes.ts";

/** What a project is, with what its owner should be told about that. */
export interface ProjectFacts extends Detected {
  readonly gates: readonly DetectedGate[];
  readonly warnings: readonly string[];
}

/** The changes of the configuration that `ov init` proposes. */
export interface Proposals {
  /** Undefined when a setup command is set, or none is needed. */
  readonly setup: SetupCommand | undefined;
  readonly unusable: readonly UnusableGate[];
  /** The usable gates, in the form in which they would be set. */
  readonly remaining: readonly unknown[];
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
    warnings: gates.length === 0 && (await localGates(repository)).length === 0 ? [noGate] : [],
  });
}

/** The gates of this machine's own file. A reset keeps that file, and its gates count before those that were found. */
export async function localGates({ root, state }: ProjectPlace): Promise<readonly DetectedGate[]> {
  const { config, origins } = await loadConfig(configFiles({ root, state }), {});
  return origins["project.qualityGates"]?.layer === "local" ? gatesOf(config, "config.local.yaml") : [];
}

const gatesOf = ({ project }: Config, from: string): readonly DetectedGate[] =>
  project.qualityGates.map(({ name, command, description }) => ({ name, command, description, from }));

/** Facts as the project's own configuration has them. One that cannot be used is never replaced unasked. */
export async function configuredFacts({ repository, name }: Omit<Question, "env">): Promise<ProjectFacts> {
  const files = configFiles({ root: repository.root, state: repository.state });
  // Without the environment: a variable of this shell is not a property of the project.
  const { config, ok: usable, problems, origins } = await loadConfig(files, {});
  if (!usable) throw unusableConfig(files.project, problems);
  const { project, runtime } = config;
  const isLocal = origins["project.qualityGates"]?.layer === "local";
  const gates = gatesOf(config, isLocal ? "config.local.yaml" : "config.yaml");
  const renamed = name !== undefined && name !== project.name;
  return {
    name: project.name,
    canonicalBranch: project.canonicalBranch,
    runtime: runtime.default,
    gates,
    warnings: [
      ...(renamed
        ? [
            `the project keeps its name "${project.name}"; change it with: ov config set project.name ${shellWord(name)}`,
          ]
        : []),
      ...(gates.length === 0 ? [noGate] : []),
    ],
  };
}

/** The setup command that the lock files of a new project propose. */
export function proposeSetup(
  root: string,
  env: Environment,
  gates: readonly Pick<DetectedGate, "command">[],
): SetupCommand | undefined {
  const texts = readTexts(root, [...gateFiles, ...setupFiles]);
  return setupCommand({ texts, gates: gates.map(({ command }) => command), has: onPath(env) });
}

/** Proposes changes to an existing configuration. A configuration with errors throws in `loadConfig`. */
export async function proposeChanges({ repository, env }: Omit<Question, "name">): Promise<Proposals> {
  const { root, state } = repository;
  const { config } = await loadConfig(configFiles({ root, state }), {});
  const { qualityGates: gates } = config.project;
  const { unusable, remaining } = sortGates(root, env, gates);
  const setup = config.merge.setup === undefined ? proposeSetup(root, env, remaining) : undefined;
  return { setup, unusable, remaining: [asWritten(table["project.qualityGates"], remaining)].flat() };
}

/** The same for a configuration that is about to be written. */
export function proposeFirst(root: string, env: Environment): Proposals {
  const gates = detectGates(readTexts(root, gateFiles));
  const { unusable, remaining } = sortGates(root, env, gates);
  const written = remaining.map(({ name, command, description }) => ({ name, command, description }));
  return { setup: proposeSetup(root, env, remaining), unusable, remaining: written };
}

function sortGates<G extends { readonly name: string; readonly command: string }>(
  root: string,
  env: Environment,
  gates: readonly G[],
): { readonly unusable: readonly UnusableGate[]; readonly remaining: readonly G[] } {
  const unusable = unusableGates(gates, {
    has: onPath(env),
    read: (path) => readText(join(root, path)),
    exists: (path) => existsSync(join(root, path)),
  });
  const names = new Set(unusable.map(({ name }) => name));
  return { unusable, remaining: gates.filter(({ name }) => !names.has(name)) };
}

const onPath =
  (env: Environment) =>
  (program: string): boolean =>
    Bun.which(program, { PATH: env.PATH ?? "" }) !== null;

/** Of those that are installed, the first that this program can drive and that answers. */
async function firstThatStarts(installed: readonly string[], path: string): Promise<string | undefined> {
  for (const id of installed) {
    const program = runtimeById(id)?.program ?? null;
    if (program !== null && (await probeProgram({ program, path })).ok) return id;
  }
  return undefined;
}

/** The runtime that agents get here, which a local file or a variable may decide, and whether its program starts. */
export async function runtimeInForce(
  place: ProjectPlace,
  env: Environment,
  chosen: string | undefined,
): Promise<{ readonly runtime: string; readonly warnings: readonly string[] }> {
  const runtime = chosen ?? (await loadConfig(configFiles(place), env)).config.runtime.default;
  const program = runtimeById(runtime)?.program ?? null;
  if (program === null || (await probeProgram({ program, path: env.PATH ?? "" })).ok) {
    return { runtime, warnings: [] };
  }
  const installed = installedRuntimes(env.PATH);
  const others = installed.filter((id) => runtimeById(id) === undefined);
  const found =
    installed.length === 0
      ? "no coding agent was found on PATH, so "
      : others.length === 0
        ? ""
        : `${others.join(" and ")} cannot be used here yet, so `;
  const words = `${found}no agent can start before ${program} can: install it, and check with: ${program} --version`;
  return { runtime, warnings: [words] };
}

const noGate =
  "no quality gate is known, so each landing will wait for your approval; " +
  `set one with: ov config set project.qualityGates '[{"name":"Tests","command":"make test"}]'`;
