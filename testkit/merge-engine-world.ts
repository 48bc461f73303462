import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mergingParts } from "../src/compose/merging.ts";
import { openProject, openStore, settingsOf } from "../src/compose/project.ts";
import type { MergeEntry } from "../src/domain/merge/entry.ts";
import type { MergePorts } from "../src/engine/merge/ports.ts";
import { Slots } from "../src/engine/merge/slots.ts";
import { MergeWorker } from "../src/engine/merge/worker.ts";
import { randomIds } from "../src/host/ids.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { enqueueBranch } from "../src/usecases/merge/enqueue.ts";
import { aRun } from "./contracts/store/rows.ts";
import { type GitMergeWorld, type GitMergeWorldOptions, gitMergeWorld } from "./git-merge-world.ts";
import { type ManualClock, manualClock } from "./manual-clock.ts";

/** A repository, its project and the merge worker in this process: real git, real store, no agents. */
export interface MergeEngineWorld extends AsyncDisposable {
  readonly git: GitMergeWorld;
  readonly ports: MergePorts;
  readonly clock: ManualClock;
  /** Where branches land; nobody has it checked out. */
  readonly landing: string;
  /** What went wrong in the background. */
  readonly reported: readonly unknown[];
  /** Gives a branch its place in the queue, approved by the operator. */
  queue(branch: string, more?: Partial<Pick<MergeEntry, "agentName" | "taskId">>): Promise<MergeEntry>;
  /** Lets the worker bring in everything that can land now. */
  work(): Promise<void>;
  entry(id: number): Promise<MergeEntry>;
}

export interface MergeEngineOptions extends GitMergeWorldOptions {
  /** Settings of the project, as lines of its file. */
  readonly settings?: string;
}

/** The run whose landing branch is `landing`. */
export const mergeRun = "run-1";

export async function mergeEngineWorld({
  settings = "",
  ...options
}: MergeEngineOptions = {}): Promise<MergeEngineWorld> {
  const git = gitMergeWorld(options);
  appendFileSync(join(git.root, ".git", "info", "exclude"), ".overstory\n");
  mkdirSync(join(git.root, ".overstory"));
  const file = `project:\n  name: app\n  canonicalBranch: main\n${settings}`;
  writeFileSync(join(git.root, ".overstory", "config.yaml"), file);
  const env = { PATH: process.env.PATH, HOME: join(git.root, "..", "home") };
  const project = await openProject(git.root, env);
  const store = openStore(project, { life: "process" });
  const landing = `overstory/integration/${mergeRun}`;
  git.git(git.root, "branch", landing, "main");
  await store.transaction((tx) => tx.runs.insert(aRun(mergeRun, { targetBranch: "main", landingBranch: landing })));
  const clock = manualClock();
  const reported: unknown[] = [];
  const ports: MergePorts = {
    worktrees: { currentBranch: async () => "main" },
    settings: { canonicalBranch: "main" },
    store,
    clock,
    ids: randomIds,
    reach: () => {},
    ...mergingParts(project, store),
    processes: linuxProcesses,
    rules: settingsOf(project),
    report: (error) => void reported.push(error),
  };
  const entry = async (id: number): Promise<MergeEntry> => {
    const found = await store.read((tx) => tx.merges.get(id));
    if (found === undefined) throw new Error(`#${id} is not in the queue`);
    return found;
  };
  return {
    git,
    ports,
    clock,
    landing,
    reported,
    queue: async (branch, more = {}) => {
      clock.advance(1000);
      const context = { caller: { kind: "operator", name: "operator" }, now: clock.now(), ids: randomIds } as const;
      const { entry: queued } = await store.transaction((tx) =>
        enqueueBranch(
          tx,
          { ...context, settings: ports.rules },
          {
            branch,
            headCommit: git.tip(branch),
            targetBranch: landing,
            taskId: null,
            agentName: null,
            runId: mergeRun,
            filesModified: [],
            source: "cli",
            enqueuedBy: "operator",
            asker: "operator",
            ...more,
          },
        ),
      );
      return queued;
    },
    work: async () => {
      const stop = new AbortController().signal;
      const worker = new MergeWorker(ports, { slots: new Slots(ports.rules.merge.parallelGates), stop });
      worker.look(() => {});
      await worker.settled();
    },
    entry,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      git[Symbol.dispose]();
    },
  };
}
