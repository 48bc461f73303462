import { expect, test } from "bun:test";
import { findInconsistencies } from "../../testkit/consistency.ts";
import { type Knowledge, playHistory, stopAll } from "./history.ts";
import { brokenPromises, lostWork, restlessness } from "./promises.ts";
import { makeScratchProject, type ScratchProject } from "./scratch-project.ts";

/**
 * Random histories against the three promises. Few in every test run; many with CHAOS=300. A violation prints its seed,
 * and CHAOS_SEED=<seed> plays that one again (the same commands and faults; what the machine does between them differs).
 */
const seeds =
  process.env.CHAOS_SEED === undefined
    ? Array.from({ length: Number(process.env.CHAOS ?? 3) }, (_, at) => Number(process.env.CHAOS_FROM ?? 1_000) + at)
    : [Number(process.env.CHAOS_SEED)];

for (const seed of seeds) {
  test(`history ${seed} keeps the three promises`, async () => {
    expect(await violations(seed)).toEqual([]);
  }, 600_000);
}

async function violations(seed: number): Promise<string[]> {
  await using project = await makeScratchProject(seed);
  const knowledge = await playHistory(project, seed, 15 + (seed % 10));
  const found = await restlessness(project, 180_000);
  found.push(...(await brokenPromises(project, knowledge)));
  await stopAll(project, knowledge);
  found.push(...(await inconsistenciesAtRest(project, knowledge)));
  // What is kept must also be kept by the command that takes everything away.
  const cleaned = await project.ov(["clean", "--all", "--force", "--yes"]);
  knowledge.log.push(`  ov clean --all --force --yes -> ${cleaned.code}: ${cleaned.err.slice(0, 300)}`);
  found.push(...lostWork(project, knowledge).map((line) => `after clean: ${line}`));
  const counts = ["planted", "commits", "mail", "gates"].map((name) => `${project.ledger(name).length} ${name}`);
  console.log(`chaos seed ${seed}: ${counts.join(", ")}, ${knowledge.sent.length} messages of the operator`);
  if (found.length > 0 || process.env.CHAOS_SEED !== undefined)
    console.error(`chaos seed ${seed}\n${knowledge.log.join("\n")}`);
  return found;
}

/**
 * The rules of `ov doctor`, when everything has stopped. What the engine would mend by itself, and what only takes room, does
 * not count: a history ends with deaths. Neither does a worktree that the history deleted, nor a lock in a worktree of a
 * git command that the history killed: it is removed before the next turn there.
 */
async function inconsistenciesAtRest({ root }: ScratchProject, { excused }: Knowledge): Promise<string[]> {
  const found = await findInconsistencies(root);
  return found
    .filter(({ severity, healedByEngine }) => severity === "fail" && !healedByEngine)
    .filter(({ key }) => ![...excused].some((agent) => key === `agent-without-worktree:${agent}`))
    .filter(({ key }) => !/^stale-git-lock:.*\/worktrees\//.test(key))
    .map(({ key, says }) => `inconsistent: ${key}: ${says}`);
}
