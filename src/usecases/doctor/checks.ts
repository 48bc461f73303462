import { type DoctorCategory, type DoctorCheck, found, passed } from "../../domain/consistency/check.ts";
import { Failure, type FailureData } from "../../domain/failure.ts";
import { isStoreFailure, storeTrouble, waysOut } from "../../domain/store-trouble.ts";
import type { DatabaseHealth, ProjectSurvey } from "../../ports/project-survey.ts";
import { makeBranchCommand } from "../branches/branches.ts";
import type { World } from "../operation.ts";
import { dependencies, ecosystem, git, providers, runtimes, security, serve } from "./machine-checks.ts";

/** What a category looks at beside the rules of `domain/consistency`. */
export type Checker = (world: World, survey: ProjectSurvey) => Promise<readonly DoctorCheck[]>;

/** One checker for each category. A missing program that is not needed is no finding. */
export const checkers: Readonly<Record<DoctorCategory, Checker>> = {
  dependencies,
  config,
  structure,
  databases,
  consistency: async () => [],
  agents: async () => [],
  merge,
  logs,
  version,
  ecosystem,
  providers,
  watchdog: async () => [
    passed("watchdog", "watchdog", "the engine watches agents while it runs; no program of its own is needed"),
  ],
  serve,
  git,
  security,
  engine,
  runtimes,
};

async function config(world: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  const category = "config" as const;
  const validated = await world.call("config.validate", {});
  if (!validated.ok) {
    const about = {
      category,
      name: "config-parseable",
      message: "the settings cannot be read",
      affects: "commands refuse to work",
    };
    return [found("fail", { ...about, next: "ov config validate" })];
  }
  const { problems, warnings } = validated.value;
  const line = ({ file, line: at, message }: (typeof problems)[number]): string => `${file}:${at} ${message}`;
  const valid =
    problems.length === 0
      ? passed(category, "config-valid", "every setting can be used")
      : found("fail", {
          category,
          name: "config-valid",
          message: `${problems.length} ${problems.length === 1 ? "setting" : "settings"} cannot be used`,
          details: problems.map(line),
          affects: "commands that start or land something refuse to work",
          next: "ov config validate",
        });
  const { canonicalBranch } = (await world.settings()).project;
  const { branches, hasCommit } = await survey.git();
  const isThere = branches.includes(canonicalBranch) || !hasCommit;
  return [
    valid,
    ...(warnings.length === 0
      ? []
      : [
          found("warn", {
            category,
            name: "config-warnings",
            message: `${warnings.length === 1 ? "1 setting has" : `${warnings.length} settings have`} no effect`,
            details: warnings.map(line),
            affects: "the settings do not do what they say",
            next: "ov config validate",
          }),
        ]),
    isThere
      ? passed(category, "canonical-branch-exists", `${canonicalBranch} is there`)
      : found("warn", {
          category,
          name: "canonical-branch-exists",
          message: `there is no branch ${canonicalBranch} (project.canonicalBranch)`,
          affects: "new runs do not know where their work goes",
          next: `${await makeBranchCommand(await world.branches(), canonicalBranch)}, or: ov config set project.canonicalBranch <name>`,
        }),
  ];
}

async function structure(world: World): Promise<readonly DoctorCheck[]> {
  const category = "structure" as const;
  const full = world.fullDisk();
  const about = { category, name: "disk", affects: "every command that stores something fails" } as const;
  if (full !== undefined) return [found("fail", { ...about, message: full })];
  const files = [...(await settingsFiles(world)), ...(await earlierProject(world))];
  return [passed(category, "disk", "something can be stored"), ...files];
}

/** Databases of version 0.11 stay where they are for ever; they count while nothing of them was taken over. */
async function earlierProject(world: World): Promise<readonly DoctorCheck[]> {
  const category = "structure" as const;
  const databases = (await world.projectSetup()).earlierDatabases();
  const taken = databases.length === 0 ? undefined : await world.call("import.read", {});
  if (taken?.ok !== true) return [];
  if (taken.value.length > 0)
    return [passed(category, "earlier-project", "the project of version 0.11 was taken over")];
  return [
    found("warn", {
      category,
      name: "earlier-project",
      message: `.overstory/ holds a project of version 0.11 that was not taken over: ${databases.join(", ")}`,
      affects: "its agents, mail, runs, costs and events are shown nowhere",
      next: "ov import --dry-run, then ov import",
    }),
  ];
}

async function settingsFiles(world: World): Promise<readonly DoctorCheck[]> {
  const category = "structure" as const;
  const configuration = await world.configuration();
  if (!configuration.isWritten()) {
    const message = ".overstory/config.yaml is not there; the last known settings count";
    return [
      found("warn", {
        category,
        name: "settings-file",
        message,
        affects: "other checkouts have no settings",
        next: "ov init",
      }),
    ];
  }
  const updated = await world.call("project.update", { only: [], dryRun: true, force: false });
  if (!updated.ok) return [passed(category, "generated-files", "only the operator may look at them")];
  const { written } = updated.value;
  return [
    passed(category, "settings-file", "the settings are there"),
    written.length === 0
      ? passed(category, "generated-files", "files of .overstory/ are up to date")
      : found("warn", {
          category,
          name: "generated-files",
          message: `${written.join(", ")} ${written.length === 1 ? "is" : "are"} not as this version writes them`,
          affects: "git may show files that are this machine's own",
          fix: "writes them, as ov update does; files that you changed stay",
          next: "ov update",
          steps: [{ on: "update" }],
        }),
  ];
}

async function databases(world: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  const health = survey.database();
  // Fails where a database was lost, which is not the same as none yet.
  if (!health.exists) await world.call("doctor.readRows", {});
  return databaseChecks(health, survey.newestBackup());
}

function databaseChecks(health: DatabaseHealth, backup: string | null): readonly DoctorCheck[] {
  const category = "databases" as const;
  const { exists, problem, version, newest, isLogged, damage, unseen, isRuined } = health;
  if (!exists) return [passed(category, "database", "nothing was stored yet; the first agent makes the database")];
  if (problem !== null) {
    const message = `the database cannot be read: ${"problem" in problem ? problem.problem : new Failure(problem).message}`;
    return [
      found("fail", { category, name: "database", message, affects: "nothing works", next: nextFor(problem, backup) }),
    ];
  }
  if (version > newest) {
    const message = `the database has version ${version}, and this ov knows ${newest}`;
    const about = {
      category,
      name: "database-version",
      message,
      affects: "this ov does not use it, so that nothing is lost",
    };
    return [found("fail", { ...about, next: "use the newer ov: ov upgrade says which" })];
  }
  const rebuild =
    "copies the database to backups/, then builds its indexes again and switches its log on; no row changes";
  return [
    version === newest
      ? passed(category, "database-version", `version ${version}`)
      : passed(category, "database-version", `version ${version}; the next command that writes brings it to ${newest}`),
    damage.length === 0
      ? passed(
          category,
          "database-pages",
          `${Math.ceil(health.bytes / 1024)} KiB, ${unseen.length === 0 ? "every page is sound" : `sound as far as there was time to look; not seen: ${unseen.join(", ")}`}`,
        )
      : found("fail", {
          category,
          name: "database-pages",
          message: "SQLite finds damage in the database",
          details: damage,
          affects: "rows may be missing in lists, or commands fail",
          ...(isRuined ? { next: waysOut(backup) } : { fix: rebuild, steps: [{ on: "rebuild" }] }),
        }),
    isLogged
      ? passed(category, "database-log", "readers and writers do not wait for each other")
      : found("warn", {
          category,
          name: "database-log",
          message: "the database has no write-ahead log",
          affects: "readers and writers wait for each other",
          fix: rebuild,
          steps: [{ on: "rebuild" }],
        }),
  ];
}

/** A backup lacks the newest rows, so it is advised for damage alone. */
function nextFor(problem: FailureData, backup: string | null): string {
  if (problem.kind === "disk-full") return "make room; agents at work go on by themselves";
  if (problem.kind === "store-busy") return "look again; if it stays so, see what runs: ov engine status";
  if (problem.kind === "store-corrupt" || !isStoreFailure(problem)) return waysOut(backup);
  return storeTrouble(problem).next;
}

async function merge(world: World): Promise<readonly DoctorCheck[]> {
  const category = "merge" as const;
  const { project } = await world.settings();
  if (project.qualityGates.length > 0) {
    return [
      passed(
        category,
        "gates",
        `${project.qualityGates.length === 1 ? "1 quality gate is" : `${project.qualityGates.length} quality gates are`} configured`,
      ),
    ];
  }
  return [
    found("warn", {
      category,
      name: "gates",
      message: "no quality gate is configured",
      affects: "nothing checks what lands, so every branch waits for your word",
      next: 'ov go --gate "<command>" "<objective>", or project.qualityGates in .overstory/config.yaml',
    }),
  ];
}

/** As 0.11 had it. */
const muchLog = 500 * 1024 * 1024;

async function logs(_: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  const bytes = survey.sizeOf("logs");
  const size = `${Math.ceil(bytes / 1024 / 1024)} MB of logs`;
  if (bytes <= muchLog) return [passed("logs", "size", size)];
  const about = { category: "logs", name: "size", message: size, affects: "they take room" } as const;
  return [found("warn", { ...about, next: "ov clean --logs, or a smaller history.retentionDays" })];
}

async function version(world: World): Promise<readonly DoctorCheck[]> {
  const control = await world.engineControl();
  const own = world.version;
  const running = control.contact.notice()?.version;
  if (running === undefined || running === own) return [passed("version", "version", `ov ${own}`)];
  return [
    found("warn", {
      category: "version",
      name: "version",
      message: `the engine is of ov ${running}, this is ov ${own}`,
      affects: "the engine does not know what this version added",
      next: "ov engine stop; the next command starts one of this version",
    }),
  ];
}

async function engine(world: World): Promise<readonly DoctorCheck[]> {
  const control = await world.engineControl();
  const notice = control.contact.notice();
  if (notice === undefined)
    return [passed("engine", "engine", "no engine runs; a command that leaves work starts one")];
  if (await control.contact.answers()) return [passed("engine", "engine", `process ${notice.pid} answers`)];
  return [
    found("warn", {
      category: "engine",
      name: "engine",
      message: `the engine (process ${notice.pid}) does not answer`,
      affects: "no turn starts and nothing lands until it is replaced",
      fix: `starts a successor, which replaces it within ${Math.round(control.replacedWithinMs / 1000)} s if it stays silent`,
      next: "ov engine status",
      healedByEngine: true,
      steps: [{ on: "engine" }],
    }),
  ];
}
