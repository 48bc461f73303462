import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "../testkit/project.ts";
import { commit, seat } from "../testkit/worktrees-world.ts";
import { progress } from "./progress.ts";
import { ms, row, times } from "./stats.ts";

const agents = 200;

/** What `ov clean --all` takes with many agents, half of them landed, against one `git status` per agent. */
export async function main(): Promise<void> {
  console.log(row("agents", "git status each", "plan", "clean", "x status"));
  for (const places of ["branches only", "with worktrees"] as const) await measure(places);
}

async function measure(places: "branches only" | "with worktrees"): Promise<void> {
  await using project = await makeProject({ files: { "a.txt": "a\n", ".gitignore": ".overstory/\n" } });
  for (let i = 0; i < agents; i++) {
    progress(`clean, ${places}, preparing`, i + 1, agents);
    const name = `a${i}`;
    const path = await seat(project, name);
    await commit(project, path, `f${i}.txt`, "x\n");
    if (i % 2 === 0) await project.git("merge", "--quiet", "--no-edit", `overstory/${name}/t-1`);
    const logs = join(project.root, ".git", "ov-state", "logs", name);
    mkdirSync(logs, { recursive: true });
    writeFileSync(join(logs, "stdout.ndjson"), "x".repeat(10_000));
  }
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    await work();
    return performance.now() - started;
  };
  const status = agents * (await timed(() => project.git("status", "--porcelain")));
  if (places === "branches only") await project.json("worktree", "clean", "--force");
  const plan = await timed(() => project.json("clean", "--all", "--dry-run"));
  const clean = await timed(() => project.json("clean", "--all", "--yes"));
  console.log(row(`${agents}, ${places}`, ms(status), ms(plan), ms(clean), times(clean / status)));
}
