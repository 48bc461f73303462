import type { Agent } from "../src/domain/agent/agent.ts";
import { type Caller, engineCaller } from "../src/domain/caller/caller.ts";
import type { Message } from "../src/domain/mail/types.ts";
import type { MergeEntry } from "../src/domain/merge/entry.ts";
import type { Refusal } from "../src/domain/refusal.ts";
import type { Result } from "../src/domain/result.ts";
import type { Run } from "../src/domain/run/run.ts";
import { randomIds } from "../src/host/ids.ts";
import { projectFiles } from "../src/host/project-files.ts";
import type { Settings } from "../src/ports/settings.ts";
import type { Tx } from "../src/ports/store.ts";
import type { OperationName } from "../src/usecases/catalog.ts";
import { runUseCase } from "../src/usecases/channel/run-use-case.ts";
import { sendMail } from "../src/usecases/mail/send.ts";
import type { Context } from "../src/usecases/usecase.ts";
import { aTask } from "./contracts/store/rows.ts";
import { type MailWorld, mailWorld } from "./mail-world.ts";
import { carrying, markOfToken, outside } from "./marked.ts";
import { mergeDefaults, settingsFor } from "./use-case.ts";

/** A run with a coordinator, a lead and its builder, who has submitted a branch for a task. */
export interface MergeWorld extends MailWorld {
  readonly coordinator: Caller;
  readonly lead: Caller;
  readonly builder: Caller;
  readonly settings: Settings;
  /** The lead announces a branch; the builder's when it is not said. */
  announce(more?: {
    readonly branch?: string;
    readonly caller?: Caller;
    readonly dedupeKey?: string;
  }): Promise<MergeEntry>;
  /** What the engine does, in one transaction. */
  asEngine<T>(work: (tx: Tx, context: Context) => Promise<T>): Promise<T>;
  /** A call as it comes over the socket: by an agent in its turn, with its token. */
  callAs(name: string, useCase: OperationName, request: unknown): Promise<Result<unknown, Refusal>>;
  entries(): Promise<MergeEntry[]>;
  agent(name: string): Promise<Agent>;
  /** Messages of a type of which this agent has a delivery that was not cancelled. */
  mailOf(name: string, type: Message["type"]): Promise<Message[]>;
}

export const builderBranch = "overstory/b1/T1";

export async function mergeWorld(
  merge: Partial<Settings["merge"]> = {},
  options: {
    readonly gated?: boolean;
    readonly run?: Partial<Run>;
    /** What to change in the usual settings. */
    readonly settings?: (usual: Settings) => Settings;
  } = {},
): Promise<MergeWorld> {
  const gate = { name: "Tests", command: "true", timeoutMs: 1000, required: true, paths: [] };
  const { run: ofRun = {}, settings: changed = (usual) => usual } = options;
  const settings = changed({
    ...settingsFor("app"),
    project: { name: "app", canonicalBranch: "main", qualityGates: options.gated === false ? [] : [gate] },
    merge: { ...mergeDefaults, ...merge },
  });
  const world = await mailWorld({}, { project: settings.project, merge: settings.merge, agents: settings.agents });
  const { store, clock } = world;
  await store.transaction(async (tx) => {
    const run = await tx.runs.get("run-1");
    if (run === undefined) throw new Error("the run is not there");
    await tx.runs.insert({ ...run, id: "run-2", coordinatorName: "coordinator", startedAt: clock.now + 1, ...ofRun });
    await tx.runs.complete("run-1", "completed", clock.now);
    await tx.tasks.insert(aTask("T1", { status: "in_review", mergeState: "pending", runId: "run-2", priority: 1 }));
    await tx.tasks.insert(aTask("T2", { runId: "run-2" }));
    await tx.tasks.addDependency({ taskId: "T2", dependsOn: "T1" });
  });
  const seat = (name: string, facts: Partial<Agent>) => world.seat(name, { runId: "run-2", ...facts });
  const coordinator = await seat("coordinator", { capability: "coordinator", worktreeKind: "root", branch: "main" });
  const lead = await seat("lead-1", { capability: "lead", parentName: "coordinator", taskId: "L1" });
  const builder = await seat("b1", {
    parentName: "lead-1",
    taskId: "T1",
    branch: builderBranch,
    headCommit: "head-1",
    ahead: 1,
    state: "completed",
    outcome: "done",
    startedAt: clock.now - 1000,
    endedAt: clock.now - 500,
  });
  const asEngine: MergeWorld["asEngine"] = (work) =>
    store.transaction((tx) => work(tx, { caller: engineCaller, now: clock.now, ids: randomIds, settings }));
  const entries = () => store.read((tx) => tx.merges.list({}));
  return {
    ...world,
    coordinator,
    lead,
    builder,
    settings,
    announce: async ({ branch = builderBranch, caller = lead, dedupeKey } = {}) => {
      clock.now += 1000;
      await world.must(
        sendMail,
        {
          to: "coordinator",
          subject: "ready",
          body: `please land ${branch} at ${clock.now}`,
          type: "merge_ready",
          payload: JSON.stringify({ branch, filesModified: ["a.ts"] }),
          dedupeKey,
        },
        caller,
      );
      const entry = (await entries()).findLast((each) => each.branch === branch);
      if (entry === undefined) throw new Error(`${branch} is not in the queue`);
      return entry;
    },
    asEngine,
    callAs: async (name, useCase, request) => {
      const token = randomIds.secret();
      const { id: turnId, agentId } = await world.beginTurn(name);
      const digest = randomIds.digest(token);
      await store.transaction((tx) =>
        tx.tokens.insert({ digest, agentId, turnId, createdAt: clock.now, revokedAt: null }),
      );
      const mark = await store.read((tx) => markOfToken(tx, token));
      const sight = mark === undefined ? outside : carrying(mark);
      const time = { now: () => clock.now, monotonic: () => 0 };
      const files = projectFiles({ root: world.dir, dir: world.dir });
      const ports = { store, clock: time, ids: randomIds, settings, files, reach: () => {}, sight };
      return (await runUseCase(ports, { name: useCase, request, token })).result;
    },
    entries,
    agent: async (name) => {
      const agent = await store.read((tx) => tx.agents.byName(name));
      if (agent === undefined) throw new Error(`${name} has no seat`);
      return agent;
    },
    mailOf: (name, type) =>
      store.read(async (tx) => {
        const found: Message[] = [];
        for (const message of await tx.messages.list({ type })) {
          const delivery = await tx.deliveries.get(message.seq, name);
          if (delivery !== undefined && delivery.state !== "cancelled") found.push(message);
        }
        return found;
      }),
  };
}
