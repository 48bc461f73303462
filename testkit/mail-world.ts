import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../src/domain/agent/agent.ts";
import { noBudgets } from "../src/domain/budget/budget.ts";
import { type Caller, operator } from "../src/domain/caller/caller.ts";
import type { Delivery, DeliveryState } from "../src/domain/mail/types.ts";
import type { Refusal } from "../src/domain/refusal.ts";
import { ok, type Result } from "../src/domain/result.ts";
import { fields, text } from "../src/domain/schema/schema.ts";
import type { Turn } from "../src/domain/turn/turn.ts";
import { randomIds } from "../src/host/ids.ts";
import { projectFiles } from "../src/host/project-files.ts";
import type { Settings } from "../src/ports/settings.ts";
import { Rollback, type Store } from "../src/ports/store.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { findSender } from "../src/usecases/mail/sender.ts";
import { type SendReply, submit } from "../src/usecases/mail/submit.ts";
import type { Context, UseCase } from "../src/usecases/usecase.ts";
import { activeRun, coordinatorDefaults, mergeDefaults, storedAgent, watchdogDefaults } from "./use-case.ts";

/** A real store with one run, a clock that stands still until it is moved, and agents that can write and read mail. */
export interface MailWorld extends AsyncDisposable {
  readonly store: Store;
  readonly dir: string;
  readonly clock: { now: number };
  /** Branches that were deleted. */
  readonly gone: Set<string>;
  /** One more store on the same database, as another process would have. */
  another(): Store;
  /** Stores an agent and answers the caller that its token would prove. */
  seat(name: string, facts?: Partial<Agent>): Promise<Caller>;
  /** Starts a turn of the agent. */
  beginTurn(name: string): Promise<Turn>;
  call<Request, Reply>(
    useCase: UseCase<Request, Reply>,
    request: Request,
    as?: { readonly caller?: Caller; readonly store?: Store },
  ): Promise<Result<Reply, Refusal>>;
  /** The same where a refusal would be a mistake of the test. */
  must<Request, Reply>(useCase: UseCase<Request, Reply>, request: Request, caller?: Caller): Promise<Reply>;
  deliveries(id: string): Promise<readonly Delivery[]>;
  states(id: string): Promise<readonly DeliveryState[]>;
  queuedTurns(): Promise<readonly string[]>;
}

export async function mailWorld(
  mail: Partial<Settings["mail"]> = {},
  more: Partial<Settings> = {},
): Promise<MailWorld> {
  const dir = mkdtempSync(join(tmpdir(), "ov-mail-"));
  const open = (): Store => openSqlite({ path: join(dir, "overstory.db"), life: "process" });
  const stores = [open()];
  const [store] = stores as [Store];
  const gone = new Set<string>();
  const files = { ...projectFiles({ root: dir, dir }), lacksBranch: (branch: string) => gone.has(branch) };
  const settings = { ...settingsFor(mail), ...more };
  const clock = { now: Date.UTC(2026, 0, 1) };
  await store.transaction((tx) => tx.runs.insert(activeRun("run-1", clock.now)));

  const call: MailWorld["call"] = async (useCase, request, as = {}) => {
    const target = as.store ?? store;
    const context: Context = { caller: as.caller ?? operator, now: clock.now, ids: randomIds, settings };
    const prepared = await useCase.prepare?.(
      files,
      { settings: context.settings, caller: async () => ok(context.caller), shellOf: async () => undefined },
      request,
    );
    if (prepared !== undefined && !prepared.ok) return prepared;
    const work = prepared === undefined ? request : prepared.value;
    const finish = async (result: Awaited<ReturnType<typeof useCase.run>>): Promise<typeof result> =>
      result.ok && useCase.finish !== undefined ? useCase.finish(files, result.value) : result;
    if (useCase.kind === "read") return finish(await target.read((tx) => useCase.run(tx, context, work)));
    return target
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

  const deliveries = (id: string): Promise<readonly Delivery[]> =>
    store.read(async (tx) => {
      const message = await tx.messages.get(id);
      return message === undefined ? [] : tx.deliveries.ofMessage(message.seq);
    });

  return {
    store,
    dir,
    clock,
    gone,
    another: () => {
      const made = open();
      stores.push(made);
      return made;
    },
    seat: async (name, facts = {}) => {
      const agent = storedAgent(name, { worktreePath: `/w/${name}`, ...facts });
      await store.transaction((tx) => tx.agents.reserve(agent));
      const { id: agentId, capability, runId, taskId } = agent;
      return { kind: "agent", name, agentId, capability, runId, taskId, turnId: null };
    },
    beginTurn: async (name) =>
      store.transaction(async (tx) => {
        const agent = await tx.agents.byName(name);
        if (agent === undefined) throw new Error(`${name} has no seat`);
        const { id: agentId, runId } = agent;
        const id = randomIds.next("turn");
        await tx.turns.cancelQueued(agentId, clock.now);
        const queued = { id, agentId, agentName: name, runId, trigger: "mail", attempt: 1, notBefore: 0 } as const;
        await tx.turns.queue({ ...queued, now: clock.now });
        await tx.turns.start(id, { fence: 1, logDir: dir, resumeRequested: null, now: clock.now });
        const turn = await tx.turns.get(id);
        if (turn === undefined) throw new Error("the turn is not there");
        return turn;
      }),
    call,
    must: async (useCase, request, caller) => {
      const result = await call(useCase, request, caller === undefined ? {} : { caller });
      if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
      return result.value;
    },
    deliveries,
    states: async (id) => (await deliveries(id)).map(({ state }) => state),
    queuedTurns: () =>
      store.read(async (tx) => {
        const names: string[] = [];
        for (const { id, name } of await tx.agents.list({})) {
          if ((await tx.turns.queuedFor(id)) !== undefined) names.push(name);
        }
        return names.toSorted();
      }),
    [Symbol.asyncDispose]: async () => {
      for (const each of stores) await each.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const settingsFor = (mail: Partial<Settings["mail"]>): Settings => ({
  project: { name: "app", canonicalBranch: "main", qualityGates: [] },
  sandbox: { mode: "guard" },
  taskTracker: { backend: "native" },
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
    maxBodyBytes: 8_192,
    hopLimit: 12,
    rateLimits: { perMinute: 30, broadcastPerMinute: 4 },
    ...mail,
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

/** The report of a completion that was accepted, as the engine sends it in the name of its agent. */
export const provenReport: UseCase<
  { readonly to: string; readonly subject: string; readonly body: string },
  SendReply
> = {
  kind: "write",
  request: fields({ to: text, subject: text, body: text }),
  run: async (tx, context, words) => {
    const sender = await findSender(tx, context.caller);
    if (!sender.ok) return sender;
    const plain = { priority: "normal", blobPath: null, payload: null, dedupeKey: null, answer: null } as const;
    const flags = { expectsReply: false, wake: undefined, strict: false, allowEmpty: false, proven: true };
    return submit(tx, context, sender.value, { ...words, ...plain, ...flags, type: "worker_done" });
  },
};
