import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "../testkit/project.ts";
import { type AgentStarts, agentStarts } from "./agent-starts.ts";
import { progress } from "./progress.ts";
import { median, ms, quantile, row, times, verdict } from "./stats.ts";
import { benchProject, timeOf } from "./world.ts";

const rounds = 15;
const atOnce = 20;
const roundsTogether = 5;
const fileCounts = [100, 5_000] as const;
/** `ov sling` to running agent: so much of a bare `git worktree add`, and so many milliseconds more. */
const singleShare = 1.15;
const singleExtraMs = 45;
const togetherShare = 2.5;

/** The agent thinks until it is told to go on: a model's answer takes longer than everything that is measured here. */
const scenario = `
- do:
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, done]
`;

/** From the typed `ov sling` to the running agent, against `git worktree add` of the same files. */
export async function main(): Promise<void> {
  console.log(row("files, how", "worktree add", "sling", "p95", "limit", ""));
  for (const files of fileCounts) await single(files);
  console.log(row(`\nfiles, ${atOnce} at once`, "adds in turn", "slings", "x adds", `<= ${togetherShare}`));
  for (const files of fileCounts) await together(files);
}

async function single(files: number): Promise<void> {
  await using project = await prepared(files);
  using starts = agentStarts(project);
  const adds: number[] = [];
  const up: number[] = [];
  const none: number[] = [];
  await project.json("engine", "start");
  // The first one wakes up what later ones find awake: files in memory, code that ran before.
  for (let i = -1; i < rounds; i++) {
    const add = await addWorktree(project, `w${i}`);
    const took = await sling(project, starts, `w${i + 1}`);
    if (i >= 0) adds.push(add);
    if (i >= 0) up.push(took);
    progress(`sling, ${files} files, engine up`, i + 1, rounds);
  }
  for (let i = 0; i < rounds; i++) {
    await project.json("engine", "stop");
    adds.push(await addWorktree(project, `c${i}`));
    none.push(await sling(project, starts, `c${i}`));
    progress(`sling, ${files} files, no engine`, i + 1, rounds);
  }
  const limit = singleShare * median(adds) + singleExtraMs;
  for (const [how, list] of [
    ["engine up", up],
    ["no engine", none],
  ] as const) {
    const cells = [ms(median(adds)), ms(median(list)), ms(quantile(list, 0.95)), ms(limit)];
    console.log(row(`${files}, ${how}`, ...cells, verdict(median(list), limit)));
  }
}

/** Single rounds scatter on a machine that others use, too: the median of several, each beside its own floor. */
async function together(files: number): Promise<void> {
  const measured: { adds: number; took: number }[] = [];
  for (let round = 0; round < roundsTogether; round++) {
    measured.push({ adds: await addsInTurn(files), took: await slingsTogether(files) });
    progress(`sling, ${files} files, ${atOnce} at once`, round + 1, roundsTogether);
  }
  const share = median(measured.map(({ adds, took }) => took / adds));
  const [adds, took] = [median(measured.map((one) => one.adds)), median(measured.map((one) => one.took))];
  console.log(row(`${files}`, ms(adds), ms(took), times(share), verdict(share, togetherShare)));
}

async function slingsTogether(files: number): Promise<number> {
  await using project = await prepared(files);
  using starts = agentStarts(project);
  await project.json("engine", "start");
  const before = Date.now();
  const names = Array.from({ length: atOnce }, (_, i) => `t${i}`);
  const answers = await Promise.all(
    names.map((name) => project.ov("sling", name, "--name", name, "--skip-task-check")),
  );
  const failed = answers.filter(({ code }) => code !== 0);
  if (failed.length > 0) throw new Error(`${failed.length} slings failed: ${failed[0]?.err}`);
  await project.until("all agents ran", async () => starts.count() === atOnce, 120_000);
  const took = Math.max(...names.map((name) => starts.recorded(name)?.at ?? Number.NaN)) - before;
  await letFinish(project);
  return took;
}

/** In a repository of their own: every worktree that is there already makes the next one slower. */
async function addsInTurn(files: number): Promise<number> {
  await using project = await prepared(files);
  let adds = 0;
  for (let i = 0; i < atOnce; i++) adds += await addWorktree(project, String(i));
  return adds;
}

async function prepared(files: number): Promise<TestProject> {
  const project = await benchProject({ scenario, files, env: { OVERSTORY__ENGINE__IDLE_EXIT_MS: "60000" } });
  // The first call makes the database.
  await project.json("task", "create", "Anything");
  return project;
}

async function letFinish(project: TestProject): Promise<void> {
  const go = join(project.home, "go");
  writeFileSync(go, "");
  await project.settled(120_000);
  await project.until("only engine and keeper were left", async () => project.processes().length <= 2);
  rmSync(go);
}

const addWorktree = (project: TestProject, name: string): Promise<number> =>
  timeOf(project, ["git", "worktree", "add", "--quiet", "-b", `bare-${name}`, `${project.state}/bare-${name}`]);

async function sling(project: TestProject, starts: AgentStarts, name: string): Promise<number> {
  const before = Date.now();
  await project.json("sling", name, "--name", name, "--skip-task-check");
  await project.until("it ran", async () => starts.recorded(name) !== undefined);
  await letFinish(project);
  return (starts.recorded(name)?.at ?? Number.NaN) - before;
}
