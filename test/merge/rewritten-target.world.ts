import { expect } from "bun:test";
import { ensureLandingBranch } from "../../src/engine/merge/landing-branch.ts";
import { decide } from "../../src/usecases/operator/decide.ts";
import { openDecisions } from "../../src/usecases/operator/decisions.ts";
import { type LandingOptions, type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { activeRun } from "../../testkit/use-case.ts";

export const landing = "overstory/integration/run-1";

export const make = (world: LandingWorld, name: string, from: string): string =>
  world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`), from);

export const filesOf = (world: LandingWorld, branch: string): readonly string[] =>
  world
    .git(world.root, "ls-tree", "--name-only", branch)
    .split("\n")
    .filter((file) => file.endsWith(".txt"));

/** A run begins on a commit with a secret, work of it lands, and the user amends the secret away. */
export async function amended(
  options: LandingOptions = {},
): Promise<{ world: LandingWorld; secret: string; mine: string }> {
  const world = await landingWorld({ gates: ["true"], ...options });
  const { root } = world;
  world.write(root, "secret.txt", "secret\n");
  world.write(root, "notes.txt", "one\ntwo\nthree\n");
  world.git(root, "add", ".");
  world.git(root, "commit", "--quiet", "-m", "with a secret");
  const secret = world.tip("main");
  const begun = activeRun("run-1", 1);
  await world.store.transaction((tx) => tx.runs.insert(begun));
  expect(await ensureLandingBranch(world.ports, begun)).toBe(landing);
  for (const name of ["a", "b"]) make(world, name, secret);
  await world.enqueue("a", { runId: "run-1", targetBranch: landing });
  await world.work();
  world.git(root, "rm", "--quiet", "secret.txt");
  world.git(root, "commit", "--quiet", "--amend", "-m", "without it");
  return { world, secret, mine: world.tip("main") };
}

export const questions = (world: LandingWorld) => world.store.read((tx) => openDecisions(tx));

export async function answer(world: LandingWorld, option: string): Promise<void> {
  const [asked] = await questions(world);
  await world.call(decide, { id: asked?.id ?? "", option });
  await world.work();
}
