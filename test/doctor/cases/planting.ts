import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DoctorWorld, dead } from "../doctor.world.ts";

/** One way in which things do not fit together: how it is made, and the finding that it must give. */
export interface Case {
  readonly name: string;
  /** The id of the finding, or its beginning. */
  readonly finds: string | ((world: DoctorWorld) => string);
  readonly make: (world: DoctorWorld) => Promise<unknown> | unknown;
}

export const missing = "e".repeat(40);
export const at = 1_790_000_000_000;

export const agentId = (world: DoctorWorld, name: string): string =>
  String(world.ask("SELECT id FROM agents WHERE name = ? ORDER BY generation DESC", name));
export const runId = (world: DoctorWorld): string => String(world.ask("SELECT id FROM runs"));
export const settledTurn = (world: DoctorWorld, name: string): string =>
  String(world.ask("SELECT id FROM turns WHERE agent_name = ? AND status = 'settled' ORDER BY ended_at", name));
export const worktree = (world: DoctorWorld, name: string): string => join(world.root, ".overstory", "worktrees", name);
export const branchOf = (world: DoctorWorld, name: string): string =>
  String(world.ask("SELECT branch FROM agents WHERE name = ? ORDER BY generation DESC", name));

export function putTurn(world: DoctorWorld, id: string, agent: string, status: string): void {
  world.put("turns", {
    id,
    agent_id: agentId(world, agent),
    agent_name: agent,
    run_id: runId(world),
    trigger: "mail",
    status,
    attempt: 1,
    not_before: 0,
    fence: 1,
    output_offset: 0,
    output_lines: 0,
    queued_at: at,
  });
}

interface PutProcess {
  readonly role: string;
  readonly agent?: string;
  readonly turn?: string | null;
  readonly alive?: boolean;
}

export function putProcess(
  world: DoctorWorld,
  id: string,
  { role, agent, turn = null, alive = false }: PutProcess,
): void {
  const { pid, startToken, bootId } = alive ? world.sleeper() : dead;
  const agent_id = agent === undefined ? null : agentId(world, agent);
  world.put("processes", {
    id,
    role,
    agent_id,
    turn_id: turn,
    pid,
    start_token: startToken,
    boot_id: bootId,
    started_at: at,
  });
}

export const putLease = (world: DoctorWorld, name: string, process: string | null): void =>
  world.sql("INSERT OR REPLACE INTO leases (name, fence, beat, process_id) VALUES (?, 7, 3, ?)", name, process);

export const putToken = (world: DoctorWorld, digest: string, agent: string, turn: string | null): void =>
  world.put("tokens", { digest, agent_id: agentId(world, agent), turn_id: turn, created_at: at });

export const putWait = (world: DoctorWorld, agent: string, kind: string, ref: string): void =>
  world.put("waits", { agent_name: agent, kind, ref, since: at });

/** A message of the operator that the agent has read, with a delivery as it is given. */
export function putMail(
  world: DoctorWorld,
  id: string,
  to: string,
  delivery: Readonly<Record<string, string | number | null>>,
): number {
  world.put("messages", {
    id,
    run_id: runId(world),
    from_agent: "operator",
    address: to,
    subject: id,
    body: id,
    type: "status",
    priority: "normal",
    thread_id: id,
    hop: 0,
    expects_reply: 0,
    verified: 1,
    created_at: at,
  });
  const seq = Number(world.ask("SELECT seq FROM messages WHERE id = ?", id));
  world.put("deliveries", {
    message_seq: seq,
    to_agent: to,
    priority_rank: 2,
    wake: 0,
    attempts: 0,
    not_before: 0,
    redelivered: 0,
    updated_at: at,
    ...delivery,
  });
  return seq;
}

export function putMerge(
  world: DoctorWorld,
  branch: string,
  more: Readonly<Record<string, string | number | null>>,
): number {
  world.put("merge_queue", {
    branch,
    head_commit: missing,
    target_branch: "main",
    run_id: runId(world),
    files_modified: "[]",
    depends_on: "[]",
    priority: 2,
    source: "cli",
    enqueued_by: "operator",
    enqueued_at: at,
    status: "pending",
    approval: "waiting",
    attempts: 0,
    not_before: 0,
    updated_at: at,
    ...more,
  });
  return Number(world.ask("SELECT MAX(id) FROM merge_queue"));
}

/** A commit that holds a string and that no ref reaches yet. */
export async function plantCommit(world: DoctorWorld, token: string): Promise<string> {
  world.planted.add(token);
  const file = join(world.project.home, "planted");
  writeFileSync(file, `${token}\n`);
  const blob = (await world.git("hash-object", "-w", file)).trim();
  const index = { GIT_INDEX_FILE: join(world.project.home, "planted.index") };
  const run = (...args: string[]): string => {
    const done = Bun.spawnSync(["git", ...args], { cwd: world.root, env: { ...world.project.env, ...index } });
    if (done.exitCode !== 0) throw new Error(done.stderr.toString());
    return done.stdout.toString().trim();
  };
  run("read-tree", "--empty");
  run("update-index", "--add", "--cacheinfo", `100644,${blob},planted.txt`);
  return run("commit-tree", run("write-tree"), "-m", token);
}

export function plantFile(world: DoctorWorld, path: string, token: string): void {
  world.planted.add(token);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "planted.txt"), `${token}\n`);
}

export const ref = async (world: DoctorWorld, name: string, token: string): Promise<void> => {
  await world.git("update-ref", name, await plantCommit(world, token));
};
