import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { operator } from "../src/domain/caller/caller.ts";
import type { Gate } from "../src/domain/gate/gate.ts";
import type { MergeEntry } from "../src/domain/merge/entry.ts";
import type { MergeOp } from "../src/domain/merge/operation.ts";
import { ladder } from "../src/engine/merge/ladder.ts";
import type { MergePorts } from "../src/engine/merge/ports.ts";
import { resolver } from "../src/engine/merge/resolve.ts";
import { Slots } from "../src/engine/merge/slots.ts";
import { MergeWorker } from "../src/engine/merge/worker.ts";
import { gateRunner, saveChangedFiles } from "../src/host/gates/gate-runner.ts";
import { scratchMerging } from "../src/host/git/scratch-merging.ts";
import { randomIds } from "../src/host/ids.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import type { MergeSettings, Settings } from "../src/ports/settings.ts";
import type { Store } from "../src/ports/store.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { requestPromote } from "../src/usecases/merge/landing/promotion.ts";
import { requestUndo } from "../src/usecases/merge/landing/request-undo.ts";
import { enqueueBranch, type NewMerge } from "../src/usecases/merge/queue/enqueue.ts";
import type { Context, UseCase } from "../src/usecases/usecase.ts";
import { type GitMergeWorld, gitMergeWorld } from "./git-merge-world.ts";
import { mergeDefaults, settingsFor } from "./use-case.ts";

/** A repository, a queue and the worker that lands from it, all real and in this process. */
export interface LandingWorld extends Omit<GitMergeWorld, typeof Symbol.dispose>, AsyncDisposable {
  readonly store: Store;
  readonly ports: MergePorts;
  /** Milliseconds to add to the wall clock from now on. */
  later(ms: number): void;
  enqueue(branch: string, more?: Partial<NewMerge>): Promise<number>;
  entry(id: number): Promise<MergeEntry>;
  /** Works until nothing is left that could be done now; with other ports than `ports` where some are given. */
  work(other?: MergePorts): Promise<void>;
  /** Asks for an undo and lets the worker do it. */
  undo(of: string, options?: { readonly requeue?: boolean }): Promise<MergeOp>;
  promote(runId?: string): Promise<MergeOp>;
  /** What the operator asks for, without any work on it. */
  call<Request, Reply>(useCase: UseCase<Request, Reply>, request: Request): Promise<Reply>;
}

export interface LandingOptions {
  readonly files?: Readonly<Record<string, string>>;
  /** Commands; each is required and is asked for every change. */
  readonly gates?: readonly string[];
  readonly merge?: Partial<MergeSettings>;
}

export async function landingWorld(options: LandingOptions = {}): Promise<LandingWorld> {
  const world = gitMergeWorld({
    ...(options.files === undefined ? {} : { files: options.files }),
    mergeLimitMs: options.merge?.timeoutMs,
  });
  const dir = join(world.root, "..", "overstory");
  mkdirSync(dir, { recursive: true });
  const store = openSqlite({ path: join(dir, "overstory.db"), life: "process" });
  const gates = (options.gates ?? []).map(
    (command, index): Gate => ({ name: `gate-${index + 1}`, command, timeoutMs: 30_000, required: true, paths: [] }),
  );
  const rules: Settings = {
    ...settingsFor("app"),
    project: { name: "app", canonicalBranch: "main", qualityGates: gates },
    merge: { ...mergeDefaults, ...options.merge },
  };
  let offset = 0;
  const clock = { now: () => Date.now() + offset, monotonic: () => performance.now() };
  const rungs = ladder(rules.merge, { store, ids: randomIds });
  const ports: MergePorts = {
    store,
    clock,
    ids: randomIds,
    reach: () => {},
    report: (error) => {
      throw error;
    },
    worktrees: { currentBranch: async () => "main" },
    settings: { canonicalBranch: "main" },
    merging: world.merging,
    gateRunner: gateRunner({ env: process.env }),
    processes: linuxProcesses,
    rules,
    resolve: resolver(world.merging, rungs),
    lookAhead: async (look) => {
      using git = await scratchMerging(world.root, world.scratch);
      return await look({ merging: git, resolve: resolver(git, rungs) });
    },
    saveChangedFiles,
    readFile: async (path) => ((await Bun.file(path).exists()) ? Bun.file(path).bytes() : undefined),
    mergeLogDir: (id) => join(dir, "logs", "merge", id),
  };
  const context = (): Context => ({ caller: operator, now: clock.now(), ids: randomIds, settings: rules });
  const call = async <Request, Reply>(useCase: UseCase<Request, Reply>, request: Request): Promise<Reply> => {
    const result = await store.transaction((tx) => useCase.run(tx, context(), request));
    if (!result.ok) throw new Error(JSON.stringify(result.refusal));
    return result.value;
  };
  const work = async (other = ports): Promise<void> => {
    let more = true;
    const worker = new MergeWorker(other, {
      slots: new Slots(rules.merge.parallelGates),
      stop: new AbortController().signal,
      wake: () => {
        more = true;
      },
    });
    while (more) {
      more = false;
      worker.look();
      await worker.settled();
    }
  };
  const opOf = async (id: string): Promise<MergeOp> => {
    const op = await store.read((tx) => tx.mergeOps.get(id));
    if (op === undefined) throw new Error(`there is no operation ${id}`);
    return op;
  };
  const { [Symbol.dispose]: dispose, ...rest } = world;
  return {
    ...rest,
    store,
    ports,
    later: (ms) => {
      offset += ms;
    },
    enqueue: async (branch, more = {}) => {
      const { entry } = await store.transaction((tx) =>
        enqueueBranch(tx, context(), {
          branch,
          headCommit: "",
          targetBranch: "main",
          taskId: null,
          agentName: null,
          runId: null,
          filesModified: [],
          source: "cli",
          enqueuedBy: "operator",
          asker: "operator",
          ...more,
        }),
      );
      return entry.id;
    },
    entry: async (id) => {
      const entry = await store.read((tx) => tx.merges.get(id));
      if (entry === undefined) throw new Error(`there is no entry ${id}`);
      return entry;
    },
    work,
    call,
    undo: async (of, { requeue = false } = {}) => {
      const { undo } = await call(requestUndo, { of, requeue });
      await work();
      return opOf(undo.id);
    },
    promote: async (runId) => {
      const { promote } = await call(requestPromote, { runId });
      if (promote === null) throw new Error("there is nothing to promote");
      await work();
      return opOf(promote.id);
    },
    [Symbol.asyncDispose]: async () => {
      await store.close();
      dispose.call(world);
    },
  };
}
