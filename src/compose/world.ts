import type { ConfigurationTerms } from "../config/configuration.ts";
import { configFiles } from "../config/sources.ts";
import { runtimeFileOf } from "../domain/agent/runtime-spec.ts";
import { branchName } from "../domain/name/name.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { fullDiskWords } from "../host/file-access.ts";
import { randomIds } from "../host/ids.ts";
import { selfCommand, serviceEnvironment, settleIn } from "../host/own-program.ts";
import { refuseLostDatabase } from "../host/project/lost-database.ts";
import type { ProjectRepository } from "../host/project/repository.ts";
import { databaseIn, hasDatabase, newestBackup, placeIfAny } from "../host/project-place.ts";
import type { EngineControl } from "../ports/engine-contact.ts";
import type { Store } from "../ports/store.ts";
import { openSqlite } from "../store/sqlite.ts";
import type { OperationName } from "../usecases/catalog.ts";
import type { OperatorCheck } from "../usecases/identity/operator-only.ts";
import type { Call, Whereabouts, World } from "../usecases/operation.ts";
import { directChannel } from "./channel.ts";
import {
  bindingFor,
  clockFor,
  contactOf,
  type Environment,
  isMarked,
  keeperOptions,
  leaseMsFor,
  openProject,
  type Project,
  placeOf,
  settingsOf,
  thisProcess,
} from "./project.ts";
import { runtimeChoices } from "./runtime-names.ts";
import { version } from "./version.ts";

export interface WorldTerms {
  /** The store of a process that has it open; a command opens it for as long as it looks. */
  readonly store?: () => Store;
  readonly call: Call;
  readonly warn: (line: string) => void;
  readonly env: Environment;
  /** The directory in which the command was typed, or the one that the command names. */
  readonly cwd: string;
  /** The directory where the command was typed, where that is another one. */
  readonly typedIn?: string;
  /** Where the project at hand is. */
  readonly place: () => Promise<ProjectPlace>;
  readonly project: () => Promise<Project>;
  /** The state directory. */
  readonly state: () => string;
  /** See `CommandChannel.changeCounter`. */
  readonly changeCounter?: () => Promise<number | undefined>;
  /** Is the engine in this process. */
  readonly runEngine?: EngineControl["run"];
  /** `remote`: the operation runs here for a process elsewhere, and only its token says whose. */
  readonly caller?: "remote";
}

/** Sleeps this long, or until the listener has left. */
function rest(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return Bun.sleep(ms);
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener("abort", wake);
  });
}

const noEngine = (): never => {
  throw new Error("this process is the engine of no project");
};

/** Runs each call on a channel of its own: it is only asked for in a project that the caller has not opened. */
const callIn = (place: ProjectPlace, env: Environment): Call => {
  const run = async (name: OperationName, request: unknown) => {
    const channel = directChannel(await openProject(place, env));
    try {
      return await channel.call({ name, request });
    } finally {
      await channel.close();
    }
  };
  // The catalogue gives each name the types of its own operation.
  return run as Call;
};

/** Identifies the caller by this process and by the store of a state directory, if there is one. */
const operatorCheck = (state: string, env: Environment): OperatorCheck => ({
  env,
  sight: thisProcess,
  ids: randomIds,
  clock: clockFor(env),
  open: (options) =>
    hasDatabase(state) ? openSqlite({ path: databaseIn(state), life: "command", ...options }) : undefined,
});

/** The ports of effects and streams, each loaded when it is asked for. */
export const makeWorld = ({
  call,
  warn,
  env,
  cwd,
  typedIn,
  place,
  project,
  store,
  state,
  changeCounter = async () => undefined,
  runEngine = noEngine,
  caller,
}: WorldTerms): World => {
  let repository: Promise<ProjectRepository> | undefined;
  const findRepository = async (): Promise<ProjectRepository> => {
    repository ??= import("../host/project/repository.ts").then((module) => module.findRepository(cwd));
    return repository;
  };
  const placeAt = (at: Whereabouts = "project"): Promise<ProjectPlace> =>
    at === "project" ? place() : findRepository();
  return {
    call,
    callIn: (at) => callIn(at, env),
    warn,
    sleep: rest,
    until: async (ask, signal) => {
      const { untilAnswered } = await import("../usecases/channel/until-answered.ts");
      const sleep = (ms: number): Promise<void> => rest(ms, signal);
      return untilAnswered({ changeCounter, now: () => performance.now(), sleep }, ask, signal);
    },
    fullDisk: () => fullDiskWords(state()),
    expectLongWork: () => settleIn(),
    version,
    runtimes: runtimeChoices.map(({ name }) => name),
    requireOperator: async (action, at) => {
      if (caller === "remote") {
        const allowed = await call("identity.requireOperator", { action });
        return allowed.ok ? undefined : allowed.refusal;
      }
      const { root, state } = await placeAt(at);
      const known = at === "repository" ? placeIfAny(root)?.state : undefined;
      const { operatorOnly } = await import("../usecases/identity/operator-only.ts");
      return operatorOnly(operatorCheck(known ?? state, env), action);
    },
    place: placeAt,
    processes: async () => (await import("../host/processes.ts")).linuxProcesses,
    settings: async () => settingsOf(await project()),
    quickGit: async () => (await import("../host/git/quick-git.ts")).quickGit((await placeAt()).root),
    lookAhead: async (look) => (await import("./merging.ts")).lookAheadOf(await project(), store)(look),
    settlingGit: async () => (await import("./merging.ts")).settlingGitOf(await project(), store),
    turnOutputs: async () => (await import("../host/turn-output.ts")).turnOutputs,
    worktrees: async () => (await import("./agent-parts.ts")).projectWorktrees(await project()),
    earlierProject: async () => {
      const { earlierProject } = await import("../host/earlier-project/earlier-project.ts");
      const { root, config } = await project();
      return earlierProject({ root, canonicalBranch: config.project.canonicalBranch });
    },
    trackers: async () => (await import("../host/trackers/trackers.ts")).hostTrackers(await project()),
    notifyChannels: async () => {
      const [{ notifyChannels, unavailableChannels }, { root, config }] = await Promise.all([
        import("../host/notify-channels.ts"),
        project(),
      ]);
      const variables = serviceEnvironment(env, root);
      return {
        channels: notifyChannels(config.notify, variables),
        unavailable: unavailableChannels(config.notify, variables),
        bell: config.notify.bell,
      };
    },
    configuration: async (at) => {
      const [{ makeConfiguration }, texts, here] = await Promise.all([
        import("../config/configuration.ts"),
        import("../host/project/files.ts"),
        placeAt(at),
      ]);
      const onSet: ConfigurationTerms["onSet"] = async (key, config) => {
        const { acknowledgeSetting } = await import("../usecases/config/judging-settings.ts");
        const { knownSettings } = await import("../host/project-files.ts");
        acknowledgeSetting(knownSettings(here.state), key, config);
      };
      return makeConfiguration({ files: configFiles(here), env, texts, onSet });
    },
    hookSettings: async () => {
      const [{ hookSettings }, { claudeHookSettings }] = await Promise.all([
        import("../host/project-files.ts"),
        import("../runtimes/claude/settings-text.ts"),
      ]);
      return hookSettings(await place(), claudeHookSettings);
    },
    trustedPrograms: async (at) => (await import("../host/git/trusted-programs.ts")).trustedPrograms(await placeAt(at)),
    projectSetup: async () => {
      const [{ projectSetup }, { databaseHealth }, { keepCopies }, { renderDefaultConfig }, { runtimeById }, binding] =
        await Promise.all([
          import("../host/project/project-setup.ts"),
          import("../store/database-health.ts"),
          import("../config/compile.ts"),
          import("../config/render.ts"),
          import("./runtimes.ts"),
          bindingFor(env),
        ]);
      return projectSetup({
        repository: await findRepository(),
        env,
        isBranchName: branchName.fits,
        renderSettings: renderDefaultConfig,
        keepSettings: keepCopies,
        lastKnownSettings: (at) => configFiles(at).lastKnown.project,
        openDatabase: (path) => openSqlite({ path, life: "command" }).close(),
        health: databaseHealth,
        clock: clockFor(env),
        refuseLostDatabase,
        bind: (found) => binding.bind(found, { adopt: true }),
        record: binding.record,
        programOf: (runtime) => runtimeById(runtime)?.program,
      });
    },
    unknownCaller: () => ({ env, isMarked: isMarked() }),
    demoStage: async (request) => {
      const { buildStage } = await import("../host/demo/stage.ts");
      const open = (path: string): Store => openSqlite({ path, life: "process", readOnly: true });
      return buildStage(request, { env, self: selfCommand(), open });
    },
    generatedParts: async () => {
      const [{ generatedParts }, { builtInTexts: builtIn }] = await Promise.all([
        import("../host/project/generated-parts.ts"),
        import("./role-texts.ts"),
      ]);
      return generatedParts({ root: (await place()).root, path: env.PATH, clock: clockFor(env), builtIn });
    },
    roleTexts: async () => {
      const [{ roleTexts }, { builtInTexts: builtIn }, { instructionFileFor }] = await Promise.all([
        import("../host/role-texts.ts"),
        import("./role-texts.ts"),
        import("./runtimes.ts"),
      ]);
      const { root, dir: state, config: settings, runtimeFiles } = await project();
      const instructionFile = instructionFileFor(settings.runtime.default, runtimeFiles.specs);
      return roleTexts({ root, state, builtIn, settings, instructionFile });
    },
    prices: async () => {
      const { projectPrices } = await import("../host/price-list.ts");
      return { ...projectPrices((await place()).root), now: clockFor(env).now() };
    },
    transcripts: async () => {
      const [{ transcriptFiles }, { readTranscript, transcriptsOf }] = await Promise.all([
        import("../host/transcript-files.ts"),
        import("../runtimes/claude/transcript.ts"),
      ]);
      const home = env.CLAUDE_CONFIG_DIR ?? `${env.HOME ?? ""}/.claude`;
      return transcriptFiles(`${home}/${transcriptsOf(typedIn ?? cwd)}`, readTranscript);
    },
    toolGuard: async () =>
      (await import("../host/tool-guard.ts")).toolGuard(env, typedIn ?? cwd, async () => (await place()).state),
    branches: async (at) => {
      const { repositoryBranches } = await import("../host/project/repository.ts");
      return repositoryBranches(cwd, async () => (await placeAt(at)).root);
    },
    typedFiles: async () => (await import("../host/project-files.ts")).typedFiles(cwd),
    textFiles: async () =>
      (await import("../host/project-files.ts")).textFiles(typedIn ?? cwd, async () => (await place()).root),
    gateLogs: async () => (await import("../host/gates/gate-log-files.ts")).gateLogFiles,
    fileHistory: async () =>
      (await import("../host/git/file-history.ts")).fileHistory((await place()).root, typedIn ?? cwd),
    callerShell: async () => {
      const { runtimeById, preflight } = await import("./runtimes.ts");
      // A runtime of this program may be asked about before there is a project.
      const specsFor = async (runtime: string) =>
        runtimeById(runtime) === undefined && placeIfAny(cwd) !== undefined ? (await project()).runtimeFiles.specs : [];
      // Each sling asks this, so git is not asked where a project is set up. It is asked in a repository without one.
      const nearest = async (): Promise<ProjectPlace> => placeIfAny(cwd) ?? findRepository();
      return {
        variables: env,
        neededBy: (runtime) => runtimeById(runtime)?.environment ?? [],
        preflight: async (runtime) => {
          const here = { dir: (await nearest()).state, env, specs: await specsFor(runtime) };
          return preflight(here, runtime, env.PATH);
        },
        unknownCommitter: async () => {
          const { unknownCommitter } = await import("../host/git/identity.ts");
          return unknownCommitter((await nearest()).root, env);
        },
      };
    },
    runtimeProbes: async () => {
      const [{ runtimeProbes }, { allRuntimes }, { builderRules, sandboxOf }] = await Promise.all([
        import("../host/runtime-probes.ts"),
        import("./runtimes.ts"),
        import("./agent-parts.ts"),
      ]);
      const here = await project();
      const rulesFor = (worktree: string) => builderRules(here, worktree);
      const confine = sandboxOf(here).forProbe;
      const { specs, broken } = here.runtimeFiles;
      const files = new Map(specs.map(({ id }) => [id, runtimeFileOf(id)]));
      const runtimes = allRuntimes(specs);
      return runtimeProbes({ env, state: here.dir, version, runtimes, files, broken, rulesFor, confine });
    },
    cleanFiles: async () => {
      const [{ cleanFiles }, { databaseCopies: database }, { projectWorktrees }] = await Promise.all([
        import("../host/project/clean-files.ts"),
        import("../store/database-files.ts"),
        import("./agent-parts.ts"),
      ]);
      const here = await project();
      return cleanFiles({ place: placeOf(here), worktrees: projectWorktrees(here), database, clock: clockFor(env) });
    },
    projectSurvey: async () => {
      const [{ surveyProject }, { programFacts }, { databaseHealth }, { linuxProcesses }] = await Promise.all([
        import("../host/doctor/survey.ts"),
        import("../host/doctor/programs.ts"),
        import("../store/database-health.ts"),
        import("../host/processes.ts"),
      ]);
      const at = await place();
      const engine = contactOf({ root: at.root, dir: at.state, env });
      const look = { place: at, processes: linuxProcesses, engine };
      return {
        ...programFacts(at, env),
        look: (rows) => surveyProject({ ...look, now: clockFor(env).now() }, rows),
        database: () => databaseHealth(databaseIn(at.state)),
        newestBackup: () => newestBackup(at.state),
      };
    },
    projectRepairs: async () => {
      const [{ projectRepairs }, { rebuildDatabase }] = await Promise.all([
        import("../host/doctor/repairs.ts"),
        import("../store/database-health.ts"),
      ]);
      const at = await place();
      const rebuild = (stamp: string): string => rebuildDatabase(databaseIn(at.state), stamp);
      return projectRepairs({ place: at, clock: clockFor(env), rebuildDatabase: rebuild });
    },
    attachedSessions: async () => (await import("./attached-sessions.ts")).attachedSessions(await project()),
    engineControl: async () => {
      const [{ engineControl }, here] = await Promise.all([import("../host/engine-contact/control.ts"), project()]);
      const replacedWithinMs = 2 * leaseMsFor(env);
      const { root } = here;
      return engineControl({
        root,
        contact: contactOf(here),
        keeper: keeperOptions(here),
        env,
        replacedWithinMs,
        run: runEngine,
      });
    },
    engine: async (at) => {
      const { root, state } = await placeAt(at);
      return hasDatabase(state) ? contactOf({ root, dir: state, env }) : undefined;
    },
  };
};
