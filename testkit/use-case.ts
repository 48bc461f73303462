import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, freshAgent } from "../src/domain/agent/agent.ts";
import type { Capability } from "../src/domain/agent/capability.ts";
import { noBudgets } from "../src/domain/budget/budget.ts";
import { type Caller, operator } from "../src/domain/caller/caller.ts";
import type { Event } from "../src/domain/event/event.ts";
import type { Refusal } from "../src/domain/refusal.ts";
import { ok, type Result } from "../src/domain/result.ts";
import type { Run } from "../src/domain/run/run.ts";
import { randomIds } from "../src/host/ids.ts";
import { projectFiles } from "../src/host/project-files.ts";
import type { ProjectFiles } from "../src/ports/project-files.ts";
import type { Settings } from "../src/ports/settings.ts";
import { Rollback, type Store } from "../src/ports/store.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import type { Context, UseCase } from "../src/usecases/usecase.ts";

/** A real store and real files in a directory of their own, and the means to call use cases on them for every caller. */
export interface UseCaseWorld extends AsyncDisposable {
  readonly store: Store;
  readonly dir: string;
  readonly files: ProjectFiles;
  /** What a call at this moment would be told. */
  context(caller?: Caller): Context;
  /** Milliseconds; every call sees a later moment than the one before. */
  now(): number;
  /** Runs a use case as the command channel does: a refusal leaves no trace. */
  call<Request, Reply>(
    useCase: UseCase<Request, Reply>,
    request: Request,
    caller?: Caller,
  ): Promise<Result<Reply, Refusal>>;
  /** The same where a refusal would be a mistake of the test. */
  must<Request, Reply>(useCase: UseCase<Request, Reply>, request: Request, caller?: Caller): Promise<Reply>;
  events(): Promise<Event[]>;
  /** Another connection to the same project, as another process has one. */
  another(): UseCaseWorld;
}

export function useCaseWorld(options: { readonly projectName?: string } = {}): UseCaseWorld {
  const dir = mkdtempSync(join(tmpdir(), "ov-usecase-"));
  const world = openWorld(dir, options);
  return {
    ...world,
    [Symbol.asyncDispose]: async () => {
      await world.store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function openWorld(dir: string, options: { readonly projectName?: string }): UseCaseWorld {
  const store = openSqlite({ path: join(dir, "overstory.db"), life: "process" });
  const files = projectFiles({ root: dir, dir });
  const settings = settingsFor(options.projectName ?? "app");
  let time = Date.UTC(2026, 0, 1);

  const contextFor = (caller: Caller = operator): Context => ({ caller, now: time, ids: randomIds, settings });
  const call: UseCaseWorld["call"] = async (useCase, request, caller = operator) => {
    time += 1000;
    const context = contextFor(caller);
    const prepared = await useCase.prepare?.(
      files,
      { settings: context.settings, caller: async () => ok(context.caller), shellOf: async () => undefined },
      request,
    );
    if (prepared !== undefined && !prepared.ok) return prepared;
    const work = prepared === undefined ? request : prepared.value;
    const finish = async (result: Awaited<ReturnType<typeof useCase.run>>): Promise<typeof result> =>
      result.ok && useCase.finish !== undefined ? useCase.finish(files, result.value) : result;
    if (useCase.kind === "read") return finish(await store.read((tx) => useCase.run(tx, context, work)));
    return store
      .transaction(async (tx) => {
        const result = await useCase.run(tx, context, work);
        if (!result.ok) throw new Rollback(result);
        return result;
      })
      .then(finish)
      .catch((thrown) => {
        if (thrown instanceof Rollback) return thrown.value;
        throw thrown;
      });
  };

  return {
    store,
    dir,
    files,
    context: contextFor,
    now: () => time,
    call,
    must: async (useCase, request, caller) => {
      const result = await call(useCase, request, caller);
      if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
      return result.value;
    },
    events: () => store.read((tx) => tx.events.after(0, 10_000)),
    another: () => openWorld(dir, options),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** A caller as the identity check would make it; no such agent needs to be stored. */
export const agentCaller = (
  name: string,
  capability: Capability,
  facts: { readonly taskId?: string; readonly runId?: string } = {},
): Caller => ({
  kind: "agent",
  name,
  agentId: `agent-${name}`,
  capability,
  runId: facts.runId ?? "run-1",
  taskId: facts.taskId ?? null,
  turnId: null,
});

export const activeRun = (id: string, startedAt: number): Run => ({
  id,
  objective: null,
  targetBranch: null,
  landingBranch: null,
  coordinatorName: null,
  status: "active",
  checklist: false,
  startCommit: null,
  startedAt,
  completedAt: null,
});

export const storedAgent = (name: string, facts: Partial<Agent> = {}): Agent =>
  freshAgent({
    id: `agent-${name}`,
    name,
    generation: 1,
    capability: "builder",
    runtime: "scripted",
    parentName: "operator",
    depth: 1,
    runId: "run-1",
    taskId: null,
    startedAt: 0,
    state: "between_turns",
    ...facts,
  });

/** What a project that says nothing about its watchdog has. */
export const watchdogDefaults: Settings["watchdog"] = {
  notifyParentOnDeath: true,
  staleThresholdMs: 300_000,
  zombieThresholdMs: 600_000,
  nudgeIntervalMs: 60_000,
  maxEscalationLevel: 3,
};

/** What a project that says nothing about merging has. */
export const mergeDefaults: Settings["merge"] = {
  mode: "auto",
  unverified: "wait",
  promote: "ask",
  keepIgnored: ["node_modules", ".venv", "target"],
  gateChanges: "ask",
  guarded: [],
  cache: [],
  setup: undefined,
  batchSize: 8,
  parallelGates: 2,
  maxRebases: 5,
  timeoutMs: 60_000,
  baselineFailing: "warn",
  keepRefsDays: 14,
  closeTask: true,
  runGitHooks: true,
  structured: { enabled: true },
  generated: [],
};

/** What a project that says nothing about the end of its runs has. */
export const coordinatorDefaults: Settings["coordinator"] = {
  exitTriggers: { allAgentsDone: false, taskTrackerEmpty: false, onShutdownSignal: false },
  requireClean: false,
  lastReview: true,
};

/** Ordinary settings for a project of this name. */
export const settingsFor = (name: string): Settings => ({
  sandbox: { mode: "guard" },
  taskTracker: { backend: "native" },
  project: { name, canonicalBranch: "main", qualityGates: [] },
  agents: {
    baseDir: ".overstory/agent-defs",
    maxConcurrent: 4,
    staggerDelayMs: 0,
    maxDepth: 2,
    maxSessionsPerRun: 0,
    maxAgentsPerLead: 5,
    continuePrompts: 2,
    maxRevivals: 5,
  },
  mail: {
    wake: {},
    coalesceMs: 500,
    maxAttempts: 5,
    leaseMs: 300_000,
    maxBodyBytes: 16_384,
    hopLimit: 20,
    rateLimits: { perMinute: 60, broadcastPerMinute: 10 },
  },
  budgets: noBudgets,
  watchdog: watchdogDefaults,
  runtimes: [{ name: "scripted", runtime: "scripted", driver: "stream-json" }],
  runtime: { default: "scripted", capabilities: {}, fallbackModels: {} },
  models: {},
  providers: {},
  merge: mergeDefaults,
  coordinator: coordinatorDefaults,
});
