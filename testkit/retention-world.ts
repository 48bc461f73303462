import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { RetentionKey, RetentionPorts } from "../src/engine/retention/table.ts";
import { gitWorktrees } from "../src/host/git/worktrees.ts";
import { oldFiles } from "../src/host/old-files.ts";
import type { Store } from "../src/ports/store.ts";
import { shrinkSparseDatabase } from "../src/store/database-files.ts";
import { anAgent, aRun, noon } from "./contracts/store/rows.ts";
import { type LandingWorld, landingWorld } from "./landing-world.ts";

/** A store, a repository and old files, with one agent that lives and one that was released. */
export interface RetentionWorld extends AsyncDisposable {
  readonly store: Store;
  readonly git: LandingWorld;
  readonly db: Database;
  readonly state: string;
  readonly ports: RetentionPorts;
  readonly clock: { wall: number; awake: number };
}

export async function retentionWorld(days: Readonly<Record<RetentionKey, number>>): Promise<RetentionWorld> {
  const git = await landingWorld({ files: { "README.md": "# Sample\n" } });
  const { store } = git;
  const state = join(git.root, "..", "overstory");
  const clock = { wall: noon, awake: 0 };
  await store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1"));
    await tx.runs.insert(aRun("over", { status: "completed", completedAt: noon }));
    await tx.agents.reserve(
      anAgent("live", { branch: "overstory/live/T", envFile: join(state, "run", "env", "kept") }),
    );
    // A reopened agent has an earlier incarnation that was never released.
    await tx.agents.reserve(anAgent("ended", { state: "completed", outcome: "done", endedAt: noon }));
    const released = { state: "completed", outcome: "done", endedAt: noon, releasedAt: noon, cleanedAt: noon } as const;
    await tx.agents.reserve(
      anAgent("ended", { ...released, generation: 2, runId: "over", branch: "overstory/ended/T" }),
    );
  });
  return {
    git,
    store,
    state,
    clock,
    db: new Database(join(state, "overstory.db")),
    ports: {
      store,
      clock: { now: () => clock.wall, monotonic: () => clock.awake },
      worktrees: gitWorktrees(git.root, { state, trash: join(state, "trash") }),
      merging: git.merging,
      oldFiles: oldFiles(state),
      forgetEnvironment: (path) => rmSync(path, { force: true }),
      shrinkDatabase: () => shrinkSparseDatabase(join(state, "overstory.db")),
      report: (error) => {
        throw error;
      },
      settings: { canonicalBranch: "main", retention: days, mostEvents: 0 },
    },
    [Symbol.asyncDispose]: () => git[Symbol.asyncDispose](),
  };
}
