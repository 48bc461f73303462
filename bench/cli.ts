import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Contender, type Timing, timeInterleaved } from "./interleaved.ts";

const repository = resolve(import.meta.dir, "..");
const ov = join(repository, "dist", "ov");
const rounds = 60;

/**
 * What a hook pays: the hot commands against a bare process and a bare Bun, on an empty store and on one with a
 * million messages and a million events.
 */
export async function main(): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), "ov-bench-"));
  try {
    const stores = [0, 1_000, 1_000_000].map((size) => ({ size, root: makeProject(base, size) }));
    const floor: Contender[] = [
      { name: "/bin/true", command: ["/bin/true"] },
      { name: "bun -e 0", command: [process.execPath, "-e", "0"] },
      { name: "ov --version", command: [ov, "--version"] },
    ];
    const timings = timeInterleaved([...floor, ...stores.flatMap(({ size, root }) => hotCommands(root, size))], rounds);
    report(timings);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function hotCommands(root: string, size: number): Contender[] {
  const place = { cwd: root, env: { PATH: process.env.PATH ?? "", HOME: root } };
  const label = (what: string): string => `${what} @${size}`;
  return [
    {
      name: label("mail send"),
      command: (round) => [ov, "mail", "send", "--to", "operator", "--subject", "s", "--body", `round ${round}`],
      ...place,
    },
    { name: label("mail check --inject"), command: [ov, "mail", "check", "--inject", "--agent", "nobody"], ...place },
    {
      name: label("event write"),
      command: [ov, "log", "tool-start", "--agent", "b1", "--tool-name", "Bash"],
      ...place,
    },
  ];
}

function makeProject(base: string, size: number): string {
  const root = join(base, `store-${size}`);
  mkdirSync(join(root, ".overstory"), { recursive: true });
  writeFileSync(join(root, ".overstory", "config.yaml"), "project:\n  name: bench\n  canonicalBranch: main\n");
  const made = Bun.spawnSync({ cmd: [ov, "status"], cwd: root, env: { PATH: process.env.PATH ?? "", HOME: root } });
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  if (size > 0) fill(join(root, ".overstory", "overstory.db"), size);
  return root;
}

function fill(path: string, size: number): void {
  const db = new Database(path);
  db.run("PRAGMA synchronous = OFF");
  db.run("BEGIN");
  db.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${size})
     INSERT INTO messages (id, from_agent, address, subject, body, type, priority, thread_id, hop, expects_reply, verified, created_at)
     SELECT 'msg-old-' || i, 'agent-' || (i % 50), 'agent-' || ((i + 1) % 50), 'subject ' || i, 'body of message ' || i, 'status', 'normal',
            'msg-old-' || i, 0, 0, 1, 1700000000000 + i FROM n`,
  );
  db.run(
    `INSERT INTO deliveries (message_seq, to_agent, state, priority_rank, wake, attempts, not_before, redelivered, acked_at, updated_at)
     SELECT seq, address, 'acked', 2, 0, 0, 0, 0, created_at, created_at FROM messages WHERE id LIKE 'msg-old-%'`,
  );
  db.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${size})
     INSERT INTO events (agent_name, source, level, type, data, created_at)
     SELECT 'agent-' || (i % 50), 'agent', 'info', 'tool_start', '{"tool":"Bash"}', 1700000000000 + i FROM n`,
  );
  db.run("COMMIT");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

function report(timings: readonly Timing[]): void {
  const bun = timings.find(({ name }) => name === "bun -e 0")?.medianMs ?? Number.NaN;
  console.log("command                          median ms     p95 ms   x bun -e 0");
  for (const { name, medianMs, p95Ms } of timings) {
    console.log(
      `${name.padEnd(32)} ${medianMs.toFixed(2).padStart(9)} ${p95Ms.toFixed(2).padStart(10)} ${(medianMs / bun).toFixed(2).padStart(11)}`,
    );
  }
  console.log("\ngrowth from 10^3 to 10^6 rows");
  for (const what of ["mail send", "mail check --inject", "event write"]) {
    const of = (size: number): number =>
      timings.find(({ name }) => name === `${what} @${size}`)?.medianMs ?? Number.NaN;
    console.log(`${what.padEnd(32)} ${(of(1_000_000) / of(1_000)).toFixed(2)}`);
  }
}
