import type { SetupCommand } from "../../domain/project/setup-command.ts";
import type { UnusableGate } from "../../domain/project/unusable-gates.ts";
import type { LogLine } from "../../usecases/agents/logs.ts";
import type { RaiseReply } from "../../usecases/budgets/raise-budget.ts";
import type { BudgetStanding } from "../../usecases/budgets/show-budgets.ts";
import type { ConfigKey, ConfigSaved } from "../../usecases/config/config.ts";
import type { DemoSummary } from "../../usecases/demo/play.ts";
import type { ImportReport } from "../../usecases/earlier/import-project.ts";
import type {
  EngineInstall,
  EngineReport,
  EngineStart,
  EngineStop,
  IdleReport,
} from "../../usecases/engine/control.ts";
import type { Services } from "../../usecases/engine/services.ts";
import type { HooksChange } from "../../usecases/hooks/settings.ts";
import type { ShownPrice } from "../../usecases/prices/show-prices.ts";
import type { InitReport } from "../../usecases/project/init.ts";
import type { UpdateReport } from "../../usecases/project/update.ts";
import type { ComparedPrompt, ShownPrompt } from "../../usecases/prompts/prompts.ts";
import type { ProgramTrust } from "../../usecases/trust/trust.ts";
import { olderLogKeys } from "../older-keys.ts";
import { iso } from "../values.ts";

/** A key of the configuration with its value here. JSON has no undefined, so an unset value is null. */
export const configKeyView = (key: ConfigKey) => ({ ...key, value: key.value ?? null, default: key.default ?? null });

/** Keys that were saved together, as they count now. */
export const savedConfigView = ({ file, isWritten, keys }: ConfigSaved) => ({
  file,
  changed: isWritten,
  keys: keys.map(configKeyView),
});

/** A limit and the amount spent of it. */
export const budgetView = (budget: BudgetStanding) => ({
  scope: budget.scope,
  subject: budget.subject,
  unit: budget.unit,
  limit: budget.limit,
  raised: budget.raised,
  spent: budget.spent,
  reserved: budget.reserved,
  percent: budget.percent,
  reported: budget.reported,
  unpriced: budget.unpriced,
  parked: budget.parked,
});

/** What a model costs, in dollars for one token. */
export const priceView = (price: ShownPrice) => ({
  model: price.model,
  source: price.source,
  from: price.from,
  inputCostPerToken: price.input,
  outputCostPerToken: price.output,
  cacheReadCostPerToken: price.cacheRead,
  cacheWriteCostPerToken: price.cacheWrite,
  cacheWrite1hCostPerToken: price.cacheWrite1h,
});

/** A limit that was raised, with the agents that go on because of it. */
export const raisedBudgetView = (raised: RaiseReply) => ({
  scope: raised.scope,
  subject: raised.subject,
  unit: raised.unit,
  limit: raised.limit,
  spent: raised.spent,
  resumed: raised.resumed,
  parked: raised.parked,
  exhausted: raised.exhausted,
});

export const engineView = (engine: EngineReport) => ({
  running: engine.running,
  answers: engine.answers,
  pid: engine.pid,
  socket: engine.socket,
  version: engine.version,
  uptimeMs: engine.uptimeMs,
  log: engine.log,
  fullDisk: engine.fullDisk,
  runningTurns: engine.runningTurns,
  queuedTurns: engine.queuedTurns,
  runningChecks: engine.runningChecks,
  waitingChecks: engine.waitingChecks,
});

/** The engine with the services that it runs. */
export const servicesView = ({ engine, merge, watchdog, listener, sessions, tokens }: Services) => ({
  engine: engineView(engine),
  merge: { mode: merge.mode, open: merge.open, since: iso(merge.since) },
  watchdog: {
    watched: watchdog.watched,
    stalled: watchdog.stalled,
    staleThresholdMs: watchdog.staleThresholdMs,
    zombieThresholdMs: watchdog.zombieThresholdMs,
  },
  web:
    listener === null
      ? null
      : { host: listener.host, port: listener.boundPort, problem: listener.problem, sessions, tokens },
});

export const startedEngineView = ({ pid, started }: EngineStart) => ({ pid, started });

export const stoppedEngineView = ({ wasRunning, stopped, pid, runningTurns, queuedTurns }: EngineStop) => ({
  wasRunning,
  stopped,
  pid,
  runningTurns,
  queuedTurns,
});

/** The service that starts the engine with the machine. */
export const installedEngineView = ({ path, unit, text, written, enable }: EngineInstall) => ({
  path,
  unit,
  text,
  written,
  enable,
});

/** An event as a line of the log of its agent. `at` is in milliseconds since 1970. */
export const logLineView = ({ seq, at, agentName, turnId, level, type, text }: LogLine) => ({
  seq,
  at,
  agentName,
  turnId,
  level,
  type,
  text,
  ...olderLogKeys({ at, type }),
});

/** The prompt of a role, the instructions that one agent was given, or an earlier version of a prompt. */
export type AnyPrompt = Pick<ShownPrompt, "text"> & Partial<ShownPrompt> & { readonly agent?: string };

/** Keys that do not belong to the prompt that was asked for are left out. */
export const promptView = ({ agent, role, state, added, version, hash, bytes, text }: AnyPrompt) => ({
  agent,
  role,
  state,
  added,
  version,
  hash,
  bytes,
  text,
});

/** How the project's own text of a role differs from the one that ships. */
export const comparedPromptView = ({ role, state, added, files, lines }: ComparedPrompt) => ({
  role,
  state,
  added,
  file: state === "built-in" ? files.addition : files.replacement,
  changes: lines.filter(({ mark }) => mark !== " ").map(({ mark, text }) => `${mark}${text}`),
});

/** A program that the repository names, and whether it may run. */
export const programView = ({ name, kind, standing, runs, needed }: ProgramTrust) => ({
  name,
  kind,
  standing,
  runs,
  needed,
});

/** What `ov update` brought up to date, or would. */
export const updateView = (report: UpdateReport) => ({
  dryRun: report.dryRun,
  agentDefs: report.agentDefs,
  manifest: report.manifest,
  hooks: report.hooks,
  gitignore: report.gitignore,
  readme: report.readme,
  instructions: report.instructions,
  written: report.written,
  kept: report.kept,
  backups: report.backups,
});

/** What `ov import` took over of an earlier project, or would. */
export const importView = (report: ImportReport) => ({
  dryRun: report.dryRun,
  parts: report.parts.map((part) => ({
    part: part.part,
    source: part.source,
    rows: part.rows,
    taken: part.taken,
    before: part.before,
    present: part.present,
    leftOut: part.leftOut,
  })),
  problems: report.problems.map(({ where, problem }) => ({ where, problem })),
  settings: report.settings,
  remarks: report.remarks,
});

/** The hooks of your own sessions after they were installed or removed. */
export const hooksView = ({ path, changed }: HooksChange, { installed }: { readonly installed: boolean }) => ({
  path,
  changed,
  installed,
});

/** The result of `ov init`, with its questions to the user and the user's answers. */
export interface SetUp {
  readonly report: InitReport;
  /** The command that installs dependencies, when the project's files name one. */
  readonly setup: (SetupCommand & { readonly taken: boolean }) | undefined;
  readonly unusableGates: readonly (UnusableGate & { readonly removed: boolean })[];
  /** Filters and hooks that run only after the operator confirmed them. */
  readonly unconfirmed: readonly ProgramTrust[];
}

export const setUpView = ({ report, setup, unusableGates, unconfirmed }: SetUp) => ({
  project: report.project,
  isAdopted: report.isAdopted,
  root: report.root,
  canonicalBranch: report.canonicalBranch,
  runtime: report.runtime,
  gates: report.gates,
  created: report.created,
  unchanged: report.unchanged,
  backups: report.backups,
  putAside: report.putAside,
  committed: report.committed,
  committedOn: report.committedOn,
  warnings: report.warnings,
  setup: setup ?? null,
  unusableGates,
  unconfirmed: unconfirmed.map(programView),
  tools: { overstory: { status: report.status, path: `${report.root}/.overstory` } },
});

/** How a demonstration went. `success`: everything landed, and the tests are green. */
export const demoView = (demo: DemoSummary) => {
  const success = demo.complete && demo.testsGreen && demo.tasksOpen.length === 0;
  return {
    complete: demo.complete,
    interrupted: demo.interrupted,
    root: demo.root,
    kept: demo.kept,
    seed: demo.seed,
    agents: demo.agents,
    turns: demo.turns,
    messages: demo.messages,
    landed: demo.landed,
    tasksClosed: demo.tasksClosed,
    tasksOpen: demo.tasksOpen,
    gateRuns: demo.gateRuns,
    conflicts: demo.conflicts,
    recovered: demo.recovered,
    reviewsFailed: demo.reviewsFailed,
    caughtByGates: demo.caughtByGates,
    testsGreen: demo.testsGreen,
    promoted: demo.promoted,
    durationMs: demo.durationMs,
    success,
    // Only a demonstration that failed has one.
    ...(success ? {} : { error: "the demo did not end with everything landed and green" }),
  };
};

/** The turns and checks that were still open when `ov run-until-idle` ended, and the merges that wait for a person. */
export const idleReportView = (report: IdleReport) => ({
  ending: report.ending,
  runningTurns: report.runningTurns,
  queuedTurns: report.queuedTurns,
  runningChecks: report.runningChecks,
  waitingChecks: report.waitingChecks,
  blocked: report.blocked,
  idle: report.ending === "idle",
  success: report.ending === "idle",
});
