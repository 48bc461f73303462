import { type DetectedGate, detectGates, gateFiles } from "../../domain/project/gates.ts";
import { projectName } from "../../domain/project/set-up.ts";
import { type SetupCommand, setupCommand, setupFiles } from "../../domain/project/setup-command.ts";
import { type UnusableGate, unusableGates } from "../../domain/project/unusable-gates.ts";
import type { InvalidInput } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { fields, flag, noFields } from "../../domain/schema/schema.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { ProjectFacts, ProjectSetup } from "../../ports/project-setup.ts";
import type { Configuration, FileSettings } from "../../ports/settings.ts";
import type { Effect } from "../operation.ts";

/** What a project is, with what its owner should be told about that. */
export interface ToldFacts extends ProjectFacts {
  readonly warnings: readonly string[];
}

/** The changes of the configuration that `ov init` proposes. */
export interface Proposals {
  /** Undefined when a setup command is set, or none is needed. */
  readonly setup: SetupCommand | undefined;
  /** Gates that cannot run here: those of the configuration, or those that are about to be written. */
  readonly unusable: readonly UnusableGate[];
  /** The other gates, in the form in which they would be set. */
  readonly remaining: readonly unknown[];
}

export interface InitProposals extends Proposals {
  /** False where `project.init` is about to write the configuration anew. */
  readonly isConfigured: boolean;
}

export interface SetUpPlan {
  readonly root: string;
  readonly runtime: string;
  readonly gates: readonly DetectedGate[];
  /** The command that would install dependencies before gates. */
  readonly setup: SetupCommand | undefined;
  /** Where the new files would be committed; undefined on no branch. */
  readonly branch: string | undefined;
}

/** The changes that `project.init` with the same request would propose. Writes nothing. */
export const propose: Effect<{ readonly reset: boolean }, InitProposals> = {
  kind: "effect",
  request: fields({ reset: flag }),
  place: "caller",
  run: async (world, { reset }) => {
    const setup = await world.projectSetup();
    const { isThere, lastKnown } = setup.settings();
    if ((!isThere && lastKnown === undefined) || reset) return ok({ isConfigured: false, ...proposeFirst(setup) });
    const configuration = await world.configuration("repository");
    return ok({ isConfigured: true, ...(await proposeChanges(setup, configuration)) });
  },
};

/** What setting it up would write; undefined where it is set up already. Nothing is written by looking. */
export const planSetUp: Effect<object, SetUpPlan | undefined> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const setup = await world.projectSetup();
    if (setup.isSetUp) return ok(undefined);
    const facts = await detectFacts(setup, await world.configuration("repository"), undefined);
    if (!facts.ok) return ok(undefined);
    const { runtime, gates } = facts.value;
    return ok({ root: setup.root, runtime, gates, setup: proposeSetup(setup, gates), branch: setup.branch });
  },
};

/** Facts found in the repository and on this machine, for a project that is to be set up. */
export async function detectFacts(
  setup: ProjectSetup,
  configuration: Configuration,
  name: string | undefined,
): Promise<Result<ToldFacts, InvalidInput>> {
  const { originUrl, directory } = setup;
  const called = projectName({ typed: name, originUrl, directory });
  if (!called.ok) return called;
  const gates = detectGates(setup.texts(gateFiles));
  return ok({
    name: called.value,
    canonicalBranch: setup.mainBranch ?? "main",
    runtime: (await firstThatStarts(setup)) ?? "claude",
    gates,
    warnings: gates.length === 0 && (await localGates(configuration)).length === 0 ? [noGate] : [],
  });
}

/** The gates of this machine's own file. A reset keeps that file, and its gates count before those that were found. */
export async function localGates(configuration: Configuration): Promise<readonly DetectedGate[]> {
  const settings = await configuration.ofFiles({ evenBroken: true });
  return settings.gatesFrom === "config.local.yaml" ? gatesOf(settings) : [];
}

const gatesOf = ({ project, gatesFrom: from = "config.yaml" }: FileSettings): readonly DetectedGate[] =>
  project.qualityGates.map(({ name, command, description }) => ({ name, command, description, from }));

/**
 * Facts by the project's own configuration. A configured value that cannot be used is never replaced without asking.
 */
export async function configuredFacts(configuration: Configuration, name: string | undefined): Promise<ToldFacts> {
  const settings = await configuration.ofFiles();
  const { project, runtime } = settings;
  const gates = gatesOf(settings);
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
  setup: ProjectSetup,
  gates: readonly Pick<DetectedGate, "command">[],
): SetupCommand | undefined {
  const texts = setup.texts([...gateFiles, ...setupFiles]);
  return setupCommand({ texts, gates: gates.map(({ command }) => command), has: setup.has });
}

/** Proposes changes to an existing configuration. */
export async function proposeChanges(setup: ProjectSetup, configuration: Configuration): Promise<Proposals> {
  const { project, merge } = await configuration.ofFiles({ evenBroken: true });
  const { unusable, remaining } = sortGates(setup, project.qualityGates);
  return {
    setup: merge.setup === undefined ? proposeSetup(setup, remaining) : undefined,
    unusable,
    remaining: [configuration.asWritten("project.qualityGates", remaining)].flat(),
  };
}

/** The same for a configuration that is about to be written. */
export function proposeFirst(setup: ProjectSetup): Proposals {
  const { unusable, remaining } = sortGates(setup, detectGates(setup.texts(gateFiles)));
  const written = remaining.map(({ name, command, description }) => ({ name, command, description }));
  return { setup: proposeSetup(setup, remaining), unusable, remaining: written };
}

function sortGates<G extends { readonly name: string; readonly command: string }>(
  setup: ProjectSetup,
  gates: readonly G[],
): { readonly unusable: readonly UnusableGate[]; readonly remaining: readonly G[] } {
  const unusable = unusableGates(gates, setup);
  const names = new Set(unusable.map(({ name }) => name));
  return { unusable, remaining: gates.filter(({ name }) => !names.has(name)) };
}

/** Of those that are installed, the first that this program can drive and that answers. */
async function firstThatStarts(setup: ProjectSetup): Promise<string | undefined> {
  for (const id of setup.installedRuntimes()) {
    const program = setup.programOf(id);
    if (program !== undefined && program !== null && (await setup.starts(program))) return id;
  }
  return undefined;
}

/** The runtime that agents get here, which a local file or a variable may decide, and whether its program starts. */
export async function runtimeInForce(
  setup: ProjectSetup,
  configuration: Configuration,
  chosen: string | undefined,
): Promise<{ readonly runtime: string; readonly warnings: readonly string[] }> {
  const runtime = chosen ?? (await configuredRuntime(configuration));
  const program = setup.programOf(runtime);
  if (program === undefined || program === null || (await setup.starts(program))) return { runtime, warnings: [] };
  const installed = setup.installedRuntimes();
  const others = installed.filter((id) => setup.programOf(id) === undefined);
  const found =
    installed.length === 0
      ? "no coding agent was found on PATH, so "
      : others.length === 0
        ? ""
        : `${others.join(" and ")} cannot be used here yet, so `;
  const words = `${found}no agent can start before ${program} can: install it, and check with: ${program} --version`;
  return { runtime, warnings: [words] };
}

async function configuredRuntime(configuration: Configuration): Promise<string> {
  const found = await configuration.explain("runtime.default");
  if (!found.ok || typeof found.value.value !== "string") throw new Error("there is no key runtime.default");
  return found.value.value;
}

export const noGate =
  "no quality gate is known, so each landing will wait for your approval; " +
  `set one with: ov config set project.qualityGates '[{"name":"Tests","command":"make test"}]'`;
