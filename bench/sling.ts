import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "../testkit/project.ts";
import { type AgentStarts, agentStarts } from "./agent-starts.ts";
import { progress } from "./progress.ts";
import { median, ms, quantile, row, times, verdict } from "./stats.ts";
import { benchProject, timeOf } from "./world.ts";

const rounds = 15;
const atOnce = 20;
const fileCounts = [100, 5_000] as const;
/** `ov sling` to running agent: so much of a bare `git worktree add`, and so many milliseconds more. */
const singleShare = 1.15;
const singleExtraMs = 45;
const togetherShare = 2.5;

/** The agent thinks until it is told to go on: a model's answer takes longer than everything that is measured here. */
const scenario = `
- do:
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
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
  const found = { "engine up": [] as number[], "no engine": [] as number[] };
  for (let i = 0; i < rounds; i++) {
    progress(`sling, ${files} files`, i + 1, rounds);
    adds.push(await addWorktree(project, i));
    await project.json("engine", "start");
    found["engine up"].push(await sling(project, starts, `w${i}`));
    await letFinish(project);
    await project.json("engine", "stop");
    found["no engine"].push(await sling(project, starts, `c${i}`));
    await letFinish(project);
    await project.json("engine", "stop");
  }
  const limit = singleShare * median(adds) + singleExtraMs;
  for (const [how, list] of Object.entries(found)) {
    const cells = [
      ms(median(adds)),
      ms(median(list)),
      ms(quantile(list, 0.95)),
      ms(limit),
      verdict(median(list), limit),
    ];
    console.log(row(`${files}, ${how}`, ...cells));
  }
}

async function together(files: number): Promise<void> {
  await using project = await prepared(files);
  using starts = agentStarts(project);
  let adds = 0;
  for (let i = 0; i < atOnce; i++) adds += await addWorktree(project, i);
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
  console.log(row(`${files}`, ms(adds), ms(took), times(took / adds), verdict(took / adds, togetherShare)));
  await letFinish(project);
}

async function prepared(files: number): Promise<TestProject> {
  const project = await benchProject({ scenario, files });
  // The first call makes the database.
  await project.json("status");
  return project;
}

async function letFinish(project: TestProject): Promise<void> {
  const go = join(project.home, "go");
  writeFileSync(go, "");
  await project.settled(120_000);
  rmSync(go);
}

const addWorktree = (project: TestProject, i: number): Promise<number> =>
  timeOf(project, ["git", "worktree", "add", "--quiet", "-b", `bare-${i}`, `${project.state}/bare-${i}`]);

async function sling(project: TestProject, starts: AgentStarts, name: string): Promise<number> {
  const before = Date.now();
  await project.json("sling", name, "--name", name, "--skip-task-check");
  await project.until("it ran", async () => starts.recorded(name) !== undefined);
  return (starts.recorded(name)?.at ?? Number.NaN) - before;
}
