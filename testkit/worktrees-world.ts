import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Agent } from "../src/domain/agent/agent.ts";
import { gitWorktrees } from "../src/host/git/worktrees.ts";
import type { Tx } from "../src/ports/store.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { ovBinary } from "./ov.ts";
import type { TestProject } from "./project.ts";
import { statePath } from "./state.ts";
import { activeRun, storedAgent } from "./use-case.ts";

/** An agent on record with a real worktree, as if it had worked and ended; facts say otherwise where it matters. */
export async function seat(project: TestProject, name: string, facts: Partial<Agent> = {}): Promise<string> {
  const path = join(project.root, ".overstory", "worktrees", name);
  const branch = `overstory/${name}/t-1`;
  const kind = facts.worktreeKind ?? "linked";
  const made = await gitWorktrees(project.root).create({ agentName: name, branch, path, kind, baseRef: "main" });
  if (!made.ok) throw new Error(made.refusal.problem);
  const { baseCommit, identity: worktreeIdentity } = made.value;
  await change(project, async (tx) => {
    if ((await tx.runs.get("run-1")) === undefined) await tx.runs.insert(activeRun("run-1", 1));
    // Ended just now: what nobody came back to for a day is released by the engine.
    const ended = { state: "completed", outcome: "done", endedAt: Date.now() } as const;
    const place = { worktreePath: path, worktreeIdentity, branch, baseCommit };
    await tx.agents.reserve(storedAgent(name, { ...ended, ...place, ...facts }));
  });
  return path;
}

/** What a person gets who types a printed line in the project. */
export function typed(
  { root, home, env }: TestProject,
  line: string,
): { readonly code: number; readonly text: string } {
  const bin = join(home, "typed-bin");
  mkdirSync(bin, { recursive: true });
  if (!existsSync(join(bin, "ov"))) symlinkSync(ovBinary(), join(bin, "ov"));
  const ran = Bun.spawnSync({
    cmd: ["sh", "-c", line],
    cwd: root,
    env: { ...env, PATH: `${bin}:${env.PATH}` },
  });
  return { code: ran.exitCode, text: `${ran.stdout}${ran.stderr}` };
}

export async function change(project: TestProject, work: (tx: Tx) => Promise<void>): Promise<void> {
  const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "command" });
  await store.transaction(work);
  await store.close();
}

export function put(dir: string, path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

export async function commit(project: TestProject, dir: string, path: string, text: string): Promise<string> {
  put(dir, path, text);
  await project.git("-C", dir, "add", "-A");
  await project.git("-C", dir, "commit", "--quiet", "-m", `change ${path}`);
  return (await project.git("-C", dir, "rev-parse", "HEAD")).trim();
}
