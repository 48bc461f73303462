import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gitWorktrees } from "../src/host/git/worktrees.ts";
import type { OwnedWorktree } from "../src/ports/worktrees.ts";
import { progress } from "./progress.ts";
import { median, ms, row, times } from "./stats.ts";
import { benchProject, timeOf } from "./world.ts";

const rounds = 15;
const fileCounts = [5_000, 50_000] as const;

/** What looking at a worktree and keeping its work costs at every settle, against one `git status` there. */
export async function main(): Promise<void> {
  console.log(row("files", "git status", "inspect", "x status", "snapshot", "x status"));
  for (const files of fileCounts) await measure(files);
}

async function measure(files: number): Promise<void> {
  process.stderr.write(`preparing ${files} files\n`);
  await using project = await benchProject({ files });
  const worktrees = gitWorktrees(project.root);
  const path = join(project.root, ".overstory", "worktrees", "a1");
  const seat = { agentName: "a1", branch: "overstory/a1/T1", path, kind: "linked" } as const;
  const created = await worktrees.create({ ...seat, baseRef: "main" });
  if (!created.ok) throw new Error(created.refusal.problem);
  const worktree: OwnedWorktree = { ...seat, generation: 1, baseCommit: created.value.baseCommit };
  const status = (): Promise<number> => timeOf(project, ["git", "-C", path, "status", "--porcelain"]);
  const unchanged = await measured("unchanged", files, { status, worktree, change: () => {} });
  console.log(unchanged);
  const changed = join(path, "src", "part-0", readdirSync(join(path, "src", "part-0"))[0] ?? "");
  let n = 0;
  console.log(
    await measured("one file changed", files, { status, worktree, change: () => appendFileSync(changed, `${n++}\n`) }),
  );

  async function measured(
    what: string,
    count: number,
    given: { status(): Promise<number>; worktree: OwnedWorktree; change(): void },
  ): Promise<string> {
    const found = { status: [] as number[], inspect: [] as number[], snapshot: [] as number[] };
    for (let i = 0; i < rounds; i++) {
      progress(`snapshot, ${count} files, ${what}`, i + 1, rounds);
      given.change();
      found.status.push(await given.status());
      found.inspect.push(await timed(() => worktrees.inspect(given.worktree)));
      found.snapshot.push(await timed(() => worktrees.snapshot(given.worktree)));
    }
    const floor = median(found.status);
    const [inspect, snapshot] = [median(found.inspect), median(found.snapshot)];
    const cells = [ms(floor), ms(inspect), times(inspect / floor), ms(snapshot), times(snapshot / floor)];
    return row(`${count}, ${what}`, ...cells);
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
