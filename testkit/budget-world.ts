import type { Agent } from "../src/domain/agent/agent.ts";
import { type Amounts, type BudgetScope, type BudgetSettings, noBudgets } from "../src/domain/budget/budget.ts";
import { type Caller, operator } from "../src/domain/caller/caller.ts";
import type { Refusal } from "../src/domain/refusal.ts";
import type { Result } from "../src/domain/result.ts";
import { randomIds } from "../src/host/ids.ts";
import type { Store } from "../src/ports/store.ts";
import type { BudgetTerms } from "../src/usecases/budgets/announce.ts";
import { liftBudgetWaits } from "../src/usecases/budgets/lift-waits.ts";
import { type ReservedTurn, reserveTurn, settleTurnBudget } from "../src/usecases/budgets/turn-budget.ts";
import type { Context, UseCase } from "../src/usecases/usecase.ts";
import { activeRun, settingsFor, storedAgent, useCaseWorld } from "./use-case.ts";

/** What a turn took. Nothing said: nothing taken, but for the turn itself. */
export interface Took {
  readonly costUsd?: number | null;
  readonly tokens?: number;
  readonly minutes?: number;
}

/** A real store with one run and some agents whose turns are reserved and settled as the engine would. */
export interface BudgetWorld extends AsyncDisposable {
  readonly store: Store;
  limits: BudgetSettings;
  now: number;
  terms(): BudgetTerms;
  /** Stores an agent of run-1; its turn is queued as the mail that dispatched it would have done. */
  agent(name: string, facts?: Partial<Agent>): Promise<Agent>;
  reserve(name: string, turnId: string): Promise<ReservedTurn>;
  settle(name: string, turnId: string, took?: Took): Promise<void>;
  /** Reserve and settle, which must be allowed. */
  turn(name: string, turnId: string, took?: Took): Promise<void>;
  /** What happens at the engine's start, and at midnight. */
  lift(): Promise<readonly string[]>;
  call<Request, Reply>(
    useCase: UseCase<Request, Reply>,
    request: Request,
    caller?: Caller,
  ): Promise<Result<Reply, Refusal>>;
  /** Subjects of the mail in an inbox, oldest first. */
  inbox(name: string): Promise<string[]>;
  events(type: string): Promise<unknown[]>;
  waits(name: string): Promise<string[]>;
  /** Agents whose queued turn may start. */
  ready(): Promise<string[]>;
}

export const limited = (scope: BudgetScope, amounts: Partial<Amounts>): BudgetSettings => ({
  ...noBudgets,
  [scope]: { ...noBudgets[scope], ...amounts },
});

export async function budgetWorld(limits: BudgetSettings = noBudgets): Promise<BudgetWorld> {
  const { store, ...base } = useCaseWorld();
  await store.transaction((tx) => tx.runs.insert(activeRun("run-1", 0)));
  const named = async (name: string): Promise<Agent> => {
    const agent = await store.read((tx) => tx.agents.byName(name));
    if (agent === undefined) throw new Error(`no agent ${name}`);
    return agent;
  };
  const world: BudgetWorld = {
    store,
    limits,
    now: Date.UTC(2026, 0, 1, 12),
    terms: () => ({ limits: world.limits, ids: randomIds, now: world.now }),
    agent: async (name, facts = {}) => {
      const agent = storedAgent(name, { worktreePath: `/w/${name}`, taskId: `task-${name}`, ...facts });
      const { id, runId } = agent;
      const turn = { id: `first-${id}`, agentId: id, agentName: name, runId, attempt: 1, notBefore: 0, now: world.now };
      await store.transaction(async (tx) => {
        await tx.agents.reserve(agent);
        await tx.turns.queue({ ...turn, trigger: "mail" });
      });
      return agent;
    },
    reserve: async (name, turnId) => {
      const agent = await named(name);
      return store.transaction((tx) => reserveTurn(tx, { ...world.terms(), turn: { id: turnId }, agent }));
    },
    settle: async (name, turnId, { costUsd = null, tokens = 0, minutes = 0 } = {}) => {
      const agent = await named(name);
      const usage = { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0 };
      const turn = { id: turnId, startedAt: world.now };
      await store.transaction((tx) => settleTurnBudget(tx, { ...world.terms(), turn, agent, costUsd, usage, minutes }));
    },
    turn: async (name, turnId, took) => {
      const reserved = await world.reserve(name, turnId);
      if (!reserved.ok) throw new Error(`${turnId} was refused: ${JSON.stringify(reserved.exceeded)}`);
      await world.settle(name, turnId, took);
    },
    lift: async () => (await store.transaction((tx) => liftBudgetWaits(tx, world.terms()))).resumed,
    call: async (useCase, request, caller = operator) => {
      const settings = { ...settingsFor("app"), budgets: world.limits };
      const context: Context = { caller, now: world.now, ids: randomIds, settings };
      const work = (tx: Parameters<typeof useCase.run>[0]) => useCase.run(tx, context, request);
      return useCase.kind === "read" ? store.read(work) : store.transaction(work);
    },
    inbox: async (name) => {
      const mail = await store.read((tx) => tx.deliveries.inState(name, ["queued"]));
      return mail.toSorted((a, b) => a.message.seq - b.message.seq).map(({ message }) => message.subject);
    },
    events: async (type) => {
      const all = await store.read((tx) => tx.events.after(0, 10_000));
      return all.filter((event) => event.type === type).map(({ data }) => JSON.parse(data ?? "null"));
    },
    waits: async (name) => (await store.read((tx) => tx.waits.of(name))).map(({ kind, ref }) => `${kind} ${ref}`),
    ready: async () => (await store.read((tx) => tx.turns.ready(world.now, 100))).map(({ agentName }) => agentName),
    [Symbol.asyncDispose]: () => base[Symbol.asyncDispose](),
  };
  return world;
}
