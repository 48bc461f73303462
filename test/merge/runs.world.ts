import type { Run } from "../../src/domain/run/run.ts";
import { ensureLandingBranch } from "../../src/engine/merge/landing-branch.ts";
import type { LandingWorld } from "../../testkit/landing-world.ts";

/** A run whose landing branch was decided the way the engine does it. */
export async function begin(world: LandingWorld, id: string): Promise<string> {
  const run: Run = {
    id,
    objective: null,
    targetBranch: null,
    landingBranch: null,
    coordinatorName: null,
    checklist: false,
    startCommit: null,
    status: "active",
    startedAt: world.ports.clock.now(),
    completedAt: null,
  };
  await world.store.transaction((tx) => tx.runs.insert(run));
  return (await ensureLandingBranch(world.ports, run)) ?? "";
}

export const make = (world: LandingWorld, name: string, from = "main"): string =>
  world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`), from);

export async function land(world: LandingWorld, name: string, runId: string, target: string): Promise<number> {
  const id = await world.enqueue(name, { runId, targetBranch: target });
  await world.work();
  return id;
}
