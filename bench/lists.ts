import { Database } from "bun:sqlite";
import { join } from "node:path";
import { addCriteria } from "../src/domain/run/checklist.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { anAgent, aRun } from "../testkit/contracts/store/rows.ts";
import type { TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";
import { fillWithHistory } from "./fill.ts";
import { progress } from "./progress.ts";
import { median, ms, row, times, verdict } from "./stats.ts";
import { benchProject, ov } from "./world.ts";

/**
 * Every command that lists what grows, as a person types it: with its default limit. A further one is a further line. What
 * has no limit, such as `ov task list --all`, prints more where there is more.
 */
const lists: readonly (readonly string[])[] = [
  ["costs"],
  ["costs", "--by", "agent"],
  ["costs", "--by", "task"],
  ["costs", "--by", "run"],
  ["costs", "--by", "model"],
  ["costs", "--by", "runtime"],
  ["costs", "--by", "capability"],
  ["costs", "--by", "day"],
  ["costs", "--live"],
  ["metrics"],
  ["run", "list"],
  ["run", "show", "r1"],
  ["run", "criteria", "list", "--run", "r1"],
  ["mail", "list"],
  ["gate", "list"],
  ["feed", "--since", "1d"],
  ["trace", "T1"],
  ["trace", "agent-1"],
  ["trace", "agent-1", "--turns"],
  ["inspect", "agent-1"],
  ["errors"],
  ["errors", "--group"],
  ["replay", "--json"],
  ["logs"],
  ["logs", "agent-1"],
  ["status"],
  ["dashboard"],
  ["inbox", "--peek"],
  ["agents", "discover", "--all"],
  ["task", "list"],
  ["task", "ready"],
  ["group", "list"],
  ["merge", "list"],
  ["merge", "list", "--all", "--limit", "50"],
  ["merge", "log"],
  ["merge", "plan"],
  ["mail", "dead"],
  ["mail", "list", "--unread"],
  ["budget"],
  ["snapshots", "list"],
  ["prime"],
  ["worktree", "list"],
  ["why", "work.txt", "--branch", "overstory/agent-1/T1"],
];

const small = 1_000;
const large = Number(process.env.BENCH_ROWS ?? 1_000_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 15);
const limit = 1.3;

/** How much longer a list takes, and how much more memory, with a million rows (`BENCH_ROWS`) than with a thousand. */
export async function main(): Promise<void> {
  await using few = await filled(small);
  await using many = await filled(large);
  console.log(row(`lists, ${small} and ${large} rows`, "small", "large", "time", "", "memory", ""));
  for (const command of lists) {
    const seen = { few: [] as Cost[], many: [] as Cost[] };
    for (let round = -2; round < rounds; round++) {
      const [a, b] = [costOf(few, command), costOf(many, command)];
      if (round >= 0) seen.few.push(a);
      if (round >= 0) seen.many.push(b);
    }
    // The least of all: the caches of a busy machine only add to a time.
    const [fast, slow] = [Math.min(...seen.few.map((one) => one.ms)), Math.min(...seen.many.map((one) => one.ms))];
    const memory = median(seen.many.map((one) => one.bytes)) / median(seen.few.map((one) => one.bytes));
    const time = slow / fast;
    const cells = [ms(fast), ms(slow), times(time), verdict(time, limit), times(memory), verdict(memory, limit)];
    console.log(row(`ov ${command.join(" ")}`, ...cells));
  }
}

interface Cost {
  /** Of the processor: it does not grow while other programs have the machine. */
  readonly ms: number;
  readonly bytes: number;
}

function costOf(project: TestProject, command: readonly string[]): Cost {
  const ended = Bun.spawnSync({
    cmd: [ov, ...command],
    cwd: project.root,
    env: { ...project.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (ended.exitCode !== 0) throw new Error(`ov ${command.join(" ")}: ${ended.stderr.toString()}`);
  const { cpuTime, maxRSS } = ended.resourceUsage;
  return { ms: Number(cpuTime.total) / 1_000, bytes: maxRSS };
}

async function filled(size: number): Promise<TestProject> {
  const project = await benchProject();
  await project.json("task", "create", "Anything", "--id", "T1");
  await addBranch(project);
  progress(`filling with rows`, 0, size);
  await fillAgents(project);
  fillWithHistory(project.root, size);
  fillWork(project.root, size);
  fillQueues(project.root, size);
  progress(`filling with rows`, size, size);
  return project;
}

/** A branch with a commit, in a worktree of its own and in the queue, which is paused: it waits there. */
async function addBranch(project: TestProject): Promise<void> {
  const place = join(project.root, ".overstory", "worktrees", "agent-1");
  await project.json("merge", "pause");
  await project.git("worktree", "add", "--quiet", "-b", "overstory/agent-1/T1", place);
  await Bun.write(join(place, "work.txt"), "one\ntwo\n");
  await project.git("-C", place, "add", "work.txt");
  await project.git("-C", place, "commit", "--quiet", "-m", "Work of T1");
  await project.json("merge", "add", "overstory/agent-1/T1");
}

/** The agents of whom `fillWithHistory` tells. They have ended and are released: nothing is due. */
async function fillAgents({ root }: TestProject): Promise<void> {
  const store = await openSqlite({ path: statePath(root, "overstory.db"), life: "process" });
  const over = { state: "completed", outcome: "done", endedAt: 1, releasedAt: 1, cleanedAt: 1 } as const;
  await store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1", { status: "completed", checklist: true, completedAt: 1 }));
    for (let n = 0; n < 50; n++) await tx.agents.reserve(anAgent(`agent-${n}`, over));
    const texts = Array.from({ length: 50 }, (_, n) => `criterion ${n}`);
    const criteria = addCriteria("r1", [], texts, { by: "operator", now: 1 });
    for (const criterion of criteria.ok ? criteria.value : []) await tx.criteria.put(criterion);
  });
  await store.close();
}

/** So many turns with what they used and cost, results of gates, and a hundredth as many runs. */
function fillWork(root: string, size: number): void {
  const yesterday = Date.now() - 24 * 60 * 60_000;
  const db = new Database(statePath(root, "overstory.db"));
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${size})`;
  db.run("PRAGMA synchronous = OFF");
  db.run("BEGIN");
  db.run(
    `${numbers} INSERT INTO turns (id, agent_id, agent_name, run_id, trigger, status, attempt, not_before, fence, output_offset,
       output_lines, exit_code, queued_at, started_at, ended_at)
     SELECT 'turn-' || i, 'agent-' || (i % 5) || '-1', 'agent-' || (i % 5), 'r1', 'mail', 'settled', 1, 0, 1, 0, 0, 0,
       ${yesterday} + i, ${yesterday} + i, ${yesterday} + i + 1 FROM n`,
  );
  db.run(
    `${numbers} INSERT INTO spending (source, part, model, agent_id, agent_name, capability, runtime, run_id, task_id, told, input,
       output, cache_read, cache_write, cost_micros, cost_source, started_at, ended_at)
     SELECT 'turn-' || i, 0, 'model-' || (i % 5), CASE WHEN i % 7 > 0 THEN 'agent-' || (i % 50) || '-1' END, 'agent-' || (i % 50),
       'builder', 'claude', 'run-' || (i / 100), 'task-' || (i / 20), 1, 10, 20, 30, 40, 500, 'reported',
       ${yesterday} + i, ${yesterday} + i + 1 FROM n`,
  );
  for (const [dimension, key] of [
    ["session", "COALESCE(agent_id, source)"],
    ["agent", "agent_name"],
    ["task", "task_id"],
    ["run", "run_id"],
    ["capability", "capability"],
    ["runtime", "runtime"],
    ["model", "model"],
    ["quarter", "printf('%09d', started_at / 900000)"],
  ] as const) {
    db.run(
      `INSERT INTO spending_sums SELECT '${dimension}', ${key}, COUNT(*), 0, 0, SUM(input), SUM(output), SUM(cache_read),
         SUM(cache_write), SUM(cost_micros), COUNT(*), MIN(started_at), MAX(ended_at) FROM spending GROUP BY ${key}`,
    );
  }
  db.run(
    `${numbers} INSERT INTO gate_results (id, tree, gate, command, gate_hash, status, exit_code, duration_ms, log_path, log_digest,
       flaky, kept, created_at)
     SELECT 'gate-' || i, 'tree-' || i, 'test', 'true', 'x', 'passed', 0, 1, '', '', 0, '[]', ${yesterday} + i FROM n`,
  );
  db.run(
    `${numbers} INSERT INTO runs (id, status, started_at, completed_at, checklist)
     SELECT 'old-run-' || i, 'completed', ${yesterday} + i, ${yesterday} + i, 0 FROM n WHERE i <= ${size / 100}`,
  );
  db.run("COMMIT");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** So many closed tasks and as many branches that landed, each by an operation of its own. A hundred tasks are open. */
function fillQueues(root: string, size: number): void {
  const yesterday = Date.now() - 24 * 60 * 60_000;
  const db = new Database(statePath(root, "overstory.db"));
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${size})`;
  db.run("PRAGMA synchronous = OFF");
  db.run("BEGIN");
  db.run(
    `${numbers} INSERT INTO tasks (id, title, status, type, priority, labels, files, merge_state, created_at, updated_at, closed_at)
     SELECT 'old-' || i, 'Task ' || i, CASE WHEN i <= 100 THEN 'open' ELSE 'closed' END, 'task', 2, '[]', '[]', 'none',
       ${yesterday} + i, ${yesterday} + i, CASE WHEN i > 100 THEN ${yesterday} + i END FROM n`,
  );
  db.run(
    `${numbers} INSERT INTO merge_queue (branch, head_commit, target_branch, files_modified, depends_on, priority, source, enqueued_by,
       enqueued_at, status, approval, attempts, not_before, result_commit, updated_at)
     SELECT 'old/' || i, 'c', 'main', '[]', '[]', 2, 'cli', 'operator', ${yesterday} + i, 'merged', 'granted', 1, 0, 'c',
       ${yesterday} + i FROM n`,
  );
  db.run(
    `${numbers} INSERT INTO merge_ops (id, kind, ref, before_commit, after_commit, queue_ids, actor, status, request, created_at,
       updated_at)
     SELECT 'op-' || i, 'land', 'refs/heads/main', 'a', 'b', '[' || i || ']', 'operator', 'done', '{}', ${yesterday} + i,
       ${yesterday} + i FROM n`,
  );
  db.run("COMMIT");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
