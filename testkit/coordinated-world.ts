import type { Agent } from "../src/domain/agent/agent.ts";
import { noBudgets } from "../src/domain/budget/budget.ts";
import type { Caller } from "../src/domain/caller/caller.ts";
import { ok } from "../src/domain/result.ts";
import { noFields } from "../src/domain/schema/schema.ts";
import type { Turn } from "../src/domain/turn/turn.ts";
import { claimTurns } from "../src/engine/dispatch.ts";
import { settleTurn } from "../src/engine/supervisor/settle-turn.ts";
import { randomIds } from "../src/host/ids.ts";
import { endAgent } from "../src/usecases/agents/end-agent.ts";
import { type Draft, fromEngine, post } from "../src/usecases/mail/post.ts";
import { keepGoing } from "../src/usecases/runs/keep-going.ts";
import type { UseCase } from "../src/usecases/usecase.ts";
import { type MailWorld, mailWorld } from "./mail-world.ts";
import { activeRun, settingsFor } from "./use-case.ts";

/** A run and its coordinator `chief`, which has worked before and is at rest. */
export interface CoordinatedWorld extends MailWorld {
  readonly runId: string;
  /** Seats an agent of the run below the coordinator. */
  seatBelow(name: string, facts?: Partial<Agent>): Promise<Caller>;
  /** The engine's word to the coordinator. */
  tell(subject: string, wake: boolean, more?: Partial<Draft>): Promise<unknown>;
  /** Ends a turn of an agent that went well. */
  settle(turn: Pick<Turn, "id">): Promise<void>;
  /** Ends an agent that has finished, or was stopped. */
  end(name: string, outcome?: "done" | "stopped"): Promise<void>;
  /** One look of the dispatcher: the subjects of the mail in each turn that it started, by agent. */
  dispatch(): Promise<Readonly<Record<string, readonly string[]>>>;
}

/** Asks once what the run of a coordinated world has to decide, as every transaction that ends something does. */
export const look: UseCase<object, null> = {
  kind: "write",
  request: noFields,
  run: async (tx, context) => {
    await keepGoing(tx, context, "run-2");
    return ok(null);
  },
};

export async function coordinatedWorld(): Promise<CoordinatedWorld> {
  const world = await mailWorld();
  const { store, clock } = world;
  const runId = "run-2";
  const time = { now: () => clock.now, monotonic: () => 0 };
  await store.transaction((tx) => tx.runs.insert({ ...activeRun(runId, clock.now), coordinatorName: "chief" }));
  await world.seat("chief", { capability: "coordinator", runId, providerSessionId: "conversation" });
  return {
    ...world,
    runId,
    seatBelow: (name, facts = {}) => world.seat(name, { runId, parentName: "chief", ...facts }),
    tell: (subject, wake, more = {}) => {
      const recipients = [{ name: "chief", wake }];
      const terms = { runId, address: "chief", recipients, type: "status", priority: "normal" } as const;
      const letter = { ...fromEngine, ...terms, subject, body: subject, ...more };
      return store.transaction((tx) => post(tx, { ids: randomIds, now: clock.now }, letter));
    },
    settle: async ({ id }) => {
      const ports = {
        store,
        clock: time,
        ids: randomIds,
        settings: settingsFor("app"),
        limits: { maxAttempts: 4 },
        prices: () => ({ version: "none", date: null, models: new Map() }),
      };
      const exit = { code: 0, signal: null };
      await settleTurn(ports, id, 1, { end: { kind: "clean" }, exit, resultText: "", worktree: undefined });
    },
    end: (name, outcome = "done") =>
      store.transaction(async (tx) => {
        const agent = await tx.agents.byName(name);
        const end = { state: "completed", outcome, actor: "supervisor", reason: "test" } as const;
        const context = { ids: randomIds, now: clock.now };
        if (agent !== undefined) await endAgent(tx, context, agent, { ...end, death: null, turnId: null });
      }),
    dispatch: async () => {
      const claimed = await claimTurns({
        store,
        clock: time,
        ids: randomIds,
        logDir: (name) => `/logs/${name}`,
        settings: { maxTurns: 4, maxTurnsPerRun: 4, budgets: noBudgets },
      });
      const started: Record<string, readonly string[]> = {};
      for (const { turnId } of claimed) {
        const [turn, mail] = await store.read(async (tx) => [
          await tx.turns.get(turnId),
          await tx.deliveries.ofTurn(turnId),
        ]);
        started[turn?.agentName ?? ""] = mail.map(({ message }) => message.subject);
      }
      return started;
    },
  };
}
