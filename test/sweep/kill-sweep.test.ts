import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pidsOf } from "../../src/host/kill-points.ts";
import { sampleAgents } from "../../testkit/agent-sampler.ts";
import { inParallel } from "../../testkit/parallel.ts";
import type { TestProject } from "../../testkit/project.ts";
import { letFall } from "./blow.ts";
import {
  boundedSweep,
  fullSweep,
  killEnvironment,
  nameOf,
  randomBlow,
  reachProblem,
  type SweepCase,
  sparesAgents,
} from "./cases.ts";
import { driveTeam } from "./drive.ts";
import { expectTeamDone } from "./invariants.ts";
import { teamProject } from "./team.world.ts";

const full = process.env.SWEEP === "full";
/** Every gate plays the same cases, so that a red gate means that the change made it red; a full sweep plays new ones. */
const seed = Number(process.env.SWEEP_SEED ?? (full ? Date.now() % 1_000_000 : 453_497));
const chosen = process.env.SWEEP_CASE;
const isLong = full || chosen !== undefined;
const atOnce = 4;

/** `SWEEP=full` for all of them; `SWEEP_CASE=<name>` for one, with `SWEEP_SEED` when it is a random one. */
function sweep(): SweepCase[] {
  const cases = isLong ? fullSweep() : boundedSweep(seed);
  return chosen === undefined ? cases : cases.filter((one) => nameOf(one) === chosen);
}

test("a team reaches its end whoever is killed at any kill-point or instant, and nothing is lost or done twice", async () => {
  const cases = sweep();
  console.log(`kill sweep: ${cases.length} cases, SWEEP_SEED=${seed}`);
  expect(cases).not.toEqual([]);
  using sampler = sampleAgents();
  const failures: string[] = [];
  let done = 0;
  await inParallel(cases, atOnce, async (one) => {
    const name = nameOf(one);
    const problem = await play(one, sampler).catch((error: unknown) => String(error));
    done++;
    if (isLong) console.error(`${done}/${cases.length} ${name} ${problem ?? "ok"}`);
    if (problem !== undefined) failures.push(`again: SWEEP_SEED=${seed} SWEEP_CASE=${name}: ${problem}`);
  });
  expect(failures).toEqual([]);
}, 7_200_000);

/** The marker is written just before the kill. A command between the two would find an engine and start none. */
const isDeserted = ({ root }: TestProject): boolean =>
  pidsOf("engine", root).length === 0 && pidsOf("keeper", root).length === 0;

/** Undefined when all went well. */
async function play(one: SweepCase, sampler: ReturnType<typeof sampleAgents>): Promise<string | undefined> {
  // Points in an engine's leaving are only reached by one that leaves soon.
  const patientEngine = one.kind === "random";
  await using project = await teamProject({ patientEngine });
  const marker = join(project.state, "killed");
  const reached = (): string | undefined => (existsSync(marker) ? readFileSync(marker, "utf8").trim() : undefined);
  const blow = one.kind === "random" ? letFall(project, randomBlow(seed, one.number)) : undefined;
  try {
    await driveTeam(project, {
      env: (line) => killEnvironment(one, line, marker),
      needsPerson: () => {
        if (one.kind === "random") return blow?.leftNobody() === true;
        return one.kind === "point" && one.who === "engine,keeper" && existsSync(marker) && isDeserted(project);
      },
    });
    await expectTeamDone(project, { sampler, patientEngine, noTurnRepeated: sparesAgents(one, seed) });
    return reachProblem(one, reached());
  } catch (error) {
    blow?.cancel();
    return `${await blow?.told}, point reached: ${reached()}\n${String(error)}`;
  } finally {
    blow?.cancel();
  }
}
