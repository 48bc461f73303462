import { join } from "node:path";
import { type Config, config } from "../config/config.ts";
import { unusableConfig } from "../config/problem.ts";
import type { RuntimeFiles } from "../domain/agent/runtime-spec.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { noRedaction, type Redaction } from "../domain/text/redact.ts";
import { systemClock } from "../host/clock.ts";
import { engineContact } from "../host/engine-contact/caller.ts";
import { randomIds } from "../host/ids.ts";
import { isTestBuild, killAtCommits, killPointsFrom } from "../host/kill-points.ts";
import { projectRedaction } from "../host/known-secrets.ts";
import { ownLockLimit } from "../host/linux/mark.ts";
import { ancestorsOfThisProcess } from "../host/linux/process-table.ts";
import { selfCommand, serviceEnvironment } from "../host/own-program.ts";
import { linuxProcesses } from "../host/processes.ts";
import type { ProjectBinding } from "../host/project/bind-project.ts";
import { refuseLostDatabase } from "../host/project/lost-database.ts";
import { makeStateDir } from "../host/project/record.ts";
import { projectFiles } from "../host/project-files.ts";
import { databaseIn, hasDatabase, sharedDir } from "../host/project-place.ts";
import type { Clock } from "../ports/clock.ts";
import type { EngineContact } from "../ports/engine-contact.ts";
import type { Settings } from "../ports/settings.ts";
import type { Store } from "../ports/store.ts";
import { redactingStore } from "../store/redacting.ts";
import { inMemory, openSqlite, type SqliteOptions } from "../store/sqlite.ts";
import type { ChannelPorts } from "../usecases/channel/run-use-case.ts";
import type { ProcessSight } from "../usecases/identity/identify.ts";
import { choicesFor } from "./runtime-names.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** An initialised project with its configuration, ready to open its store and to find its engine. */
export interface Project {
  readonly root: string;
  /** The state directory. */
  readonly dir: string;
  readonly env: Environment;
  readonly config: Config;
  readonly runtimeFiles: RuntimeFiles;
  readonly warnings: readonly { readonly key: string; readonly message: string }[];
  /** Notices for the person who runs a command here, whichever command it is. */
  readonly notices: readonly string[];
  readonly limitSources?: Settings["limitSources"];
}

export async function openProject(
  place: ProjectPlace,
  env: Environment,
  options: { readonly lastKnown?: boolean } = {},
): Promise<Project> {
  const overrides = env.OVERSTORY_TOKEN === undefined && !isMarked() ? env : withoutOverrides(env);
  const ready = await config(place, overrides, options);
  if (!ready.ok) {
    throw unusableConfig(join(sharedDir(place.root), "config.yaml"), ready.refusal);
  }
  const { root, state } = place;
  return { root, dir: state, env, ...ready.value };
}

/** Set for agents that cannot reach the database file. */
const remoteOnly = "engine";

export const isRemote = (env: Environment): boolean => env.OVERSTORY_CHANNEL === remoteOnly;

/** Keeps the state and the place of a project together. Loaded only when the two may have come apart. */
export async function bindingFor(env: Environment): Promise<ProjectBinding> {
  const [{ projectBinding }, { databaseFiles: databases }] = await Promise.all([
    import("../host/project/bind-project.ts"),
    import("../store/database-files.ts"),
  ]);
  const leavesPlaces = env.OVERSTORY_TOKEN !== undefined;
  return projectBinding({ databases, clock: clockFor(env), reach: killPointsFrom(env), leavesPlaces });
}

export const placeOf = ({ root, dir }: Pick<Project, "root" | "dir">): ProjectPlace => ({ root, state: dir });

/** Settings in the environment are the operator's word; an agent could write any there. */
export const withoutOverrides = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("OVERSTORY__")));

export function openStore(project: Project, options: Omit<SqliteOptions, "path">): Store {
  const path = databaseIn(project.dir);
  const mustExist = hasDatabase(project.dir);
  if (!mustExist) {
    refuseLostDatabase(placeOf(project));
    // A clone of the repository has the configuration but no state. Commands that only read make no state.
    if (options.readOnly === true && options.life === "command")
      return openSqlite({ ...options, path: inMemory, readOnly: false });
    makeStateDir(project.dir);
  }
  const store = killAtCommits(openSqlite({ path, mustExist, ...options }), project.env);
  return options.readOnly === true ? store : redactingStore(store, redactionFor(project));
}

/** Takes secrets out of what this process stores and logs, unless the project wants everything as it came. */
export const redactionFor = ({ dir, env, config }: Pick<Project, "dir" | "env" | "config">): Redaction =>
  config.logging.redactSecrets ? projectRedaction(dir, env) : noRedaction;

export function clockFor(env: Environment): Clock {
  return systemClock(isTestBuild ? Number(env.OVERSTORY_TEST_CLOCK_OFFSET_MS ?? 0) : 0);
}

/** How long a turn's supervisor may be silent; see `Supervisors` in `engine/dispatch`. */
export function leaseMsFor(env: Environment): number {
  return isTestBuild ? Number(env.OVERSTORY_TEST_LEASE_MS ?? leaseMs) : leaseMs;
}

const leaseMs = 15_000;

export const settingsOf = ({ config, runtimeFiles, limitSources = {} }: Project): Settings => ({
  ...config,
  limitSources,
  runtimes: choicesFor(config.runtime, runtimeFiles),
  brokenRuntimes: runtimeFiles.broken,
});

/** The caller of a command line is this process itself, so this process is what can be looked at. */
export const thisProcess: ProcessSight = {
  kind: "process",
  mark: ownLockLimit,
  ancestors: ancestorsOfThisProcess,
};

/**
 * Does this process run inside an agent of any project? For callers whose project has no open store, or none at all.
 */
export const isMarked = (): boolean => ownLockLimit() !== undefined;

export function channelPorts(project: Project, store: Store): ChannelPorts {
  return {
    store,
    clock: clockFor(project.env),
    ids: randomIds,
    settings: settingsOf(project),
    files: projectFiles({ ...project, redact: redactionFor(project).composed }),
    reach: killPointsFrom(project.env),
    sight: thisProcess,
    isCommit: async (ref) => {
      const { git } = await import("../host/git/git.ts");
      return (await git(project.root, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`)).code === 0;
    },
    takenNames: async () => (await import("../host/git/quick-git.ts")).branchNamesIn(project.root, "overstory"),
    tipOf: async (branch) => {
      const { quickGit } = await import("../host/git/quick-git.ts");
      const quick = quickGit(project.root).tipOf(branch);
      if (quick !== undefined) return quick;
      const { git } = await import("../host/git/git.ts");
      // Takes nothing but the whole name of a ref: `main^` is none.
      const shown = await git(project.root, "show-ref", "--verify", "--hash", "--", `refs/heads/${branch}`);
      return shown.code === 0 ? shown.out.trim() : null;
    },
    preflight: async (runtime, path) => {
      const { specs } = project.runtimeFiles;
      if (project.config.sandbox.mode === "os") {
        const { confinable } = await import("../host/sandbox/project-sandbox.ts");
        const may = confinable({ settings: project.config.sandbox, state: project.dir });
        if (!may.ok) return may;
        const [{ sandboxOf }, { preflight }] = await Promise.all([import("./agent-parts.ts"), import("./runtimes.ts")]);
        return preflight({ ...project, specs }, runtime, path, sandboxOf(project).forProbe);
      }
      const { preflight } = await import("./runtimes.ts");
      return preflight({ ...project, specs }, runtime, path);
    },
    dollarWatch: async (choice, model) => (await import("./runtimes.ts")).watchesDollars(project, choice, model),
  };
}

export function contactOf(project: Pick<Project, "root" | "dir" | "env">): EngineContact {
  return engineContact(keeperOptions(project));
}

export function keeperOptions(project: Pick<Project, "root" | "dir" | "env">) {
  return {
    state: project.dir,
    isConfined: isRemote(project.env),
    engine: [...selfCommand(), "engine", "run", "--project", project.root],
    env: serviceEnvironment(project.env, project.root),
    processes: linuxProcesses,
  };
}
