import { Database } from "bun:sqlite";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { hasEnded } from "../src/domain/agent/agent.ts";
import { moveClock } from "../testkit/lifecycle.ts";
import { inParallel } from "../testkit/parallel.ts";
import type { TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";
import { progress } from "./progress.ts";
import { row, verdict } from "./stats.ts";
import { benchProject } from "./world.ts";

const agents = Number(process.env.RETENTION_AGENTS ?? 200);
const slingsAtOnce = 4;
/** In per cent of what was there before. */
const limit = 10;
const dayMs = 24 * 60 * 60_000;
/** Longer than anything is kept that goes with its age. */
const later = 400 * dayMs;

/** Only the test build can have another clock. */
const testBuild = process.env.OV_BIN ?? join(resolve(import.meta.dir, ".."), "dist", "ov-test");

const scenario = `
- do:
    - edit: { file: "work/\${agent}.txt", write: "work of \${agent}\\n" }
    - shell: mkdir -p cache && echo slow > cache/made
    - commit: "work of \${agent}"
    - ov: [done, --summary, "\${agent}.txt is there"]
`;

interface Sizes {
  readonly database: number;
  readonly logs: number;
  readonly trash: number;
  readonly refs: number;
}

/** Two runs of two hundred agents that land, then a clock that is moved: what is left beside what was there before. */
export async function main(): Promise<void> {
  await using project = await benchProject({ scenario, gates: ["true"] });
  process.env.OV_BIN = testBuild;
  const names = (run: number): readonly string[] => Array.from({ length: agents }, (_, i) => `r${run}a${i}`);
  // The plan is a person's and stays: it was there before.
  for (const run of [1, 2])
    await inParallel(names(run), slingsAtOnce, (name) =>
      project.json("task", "create", `Work of ${name}`, "--id", name),
    );
  await settle(project);
  const before = sizesOf(project);
  for (const run of [1, 2]) await play(project, names(run));
  await settle(project);
  const full = sizesOf(project);
  await forget(project);
  report(before, full, sizesOf(project));
  reportTables(project);
}

async function play(project: TestProject, names: readonly string[]): Promise<void> {
  const [first, ...others] = names;
  if (first === undefined) return;
  await project.json("sling", first, "--name", first, "--run", "new");
  await inParallel(others, slingsAtOnce, (name) => project.json("sling", name, "--name", name));
  const ofRun = async () => (await project.read((tx) => tx.agents.list({}))).filter(({ name }) => names.includes(name));
  for (;;) {
    const all = await ofRun();
    const failed = all.find((agent) => hasEnded(agent) && agent.outcome !== "done");
    if (failed !== undefined) throw new Error(`an agent failed: ${JSON.stringify(failed)}`);
    const ended = all.filter(hasEnded).length;
    progress("retention, submitted", ended, names.length);
    if (ended === names.length) break;
    await Bun.sleep(500);
  }
  await project.json("merge", "--all");
  await project.json("merge", "promote", "--yes");
  await inParallel(names, slingsAtOnce, (name) => project.ov("release", name, "--json"));
  for (const name of names) await project.ov("task", "close", name, "--json");
  // A look shows a part of the mail, and counts as read with the next one.
  for (let shown = 1; shown > 0; ) {
    const { messages } = await project.json("mail", "check");
    shown = Array.isArray(messages) ? messages.length : 0;
  }
  await project.json("run", "complete", "--force");
}

/** No engine is left, and all of the write-ahead log is in the database. */
async function settle(project: TestProject): Promise<void> {
  await project.settled(600_000);
  await project.json("engine", "stop");
  await project.until("the engine had left", async () => project.processes().length === 0);
  const database = new Database(statePath(project.root, "overstory.db"));
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

/** An engine makes a round a minute while old things are left; each start of one makes a round at once. */
async function forget(project: TestProject): Promise<void> {
  for (let last = ""; ; ) {
    await moveClock(project, later);
    await project.until("the engine had left", async () => project.processes().length === 0, 600_000);
    const sizes = JSON.stringify(sizesOf(project));
    if (sizes === last) break;
    last = sizes;
  }
  await settle(project);
}

function sizesOf({ root }: TestProject): Sizes {
  const refs = Bun.spawnSync(["git", "for-each-ref", "refs/heads/overstory", "refs/overstory"], { cwd: root });
  return {
    database: lstatSync(statePath(root, "overstory.db")).size,
    logs: bytesBelow(statePath(root, "logs")),
    trash: bytesBelow(statePath(root, "trash")),
    refs: refs.stdout.toString().split("\n").length - 1,
  };
}

function bytesBelow(dir: string): number {
  if (!existsSync(dir)) return 0;
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0);
}

function report(before: Sizes, full: Sizes, after: Sizes): void {
  console.log(row(`2 runs of ${agents} agents`, "before", "after both", "at the end", "over", ""));
  for (const what of ["database", "logs", "trash", "refs"] as const) {
    const over = before[what] === 0 ? (after[what] === 0 ? 0 : 100) : (after[what] / before[what] - 1) * 100;
    const shown = [before[what], full[what], after[what], `${over.toFixed(1)} %`].map(String);
    console.log(row(what, ...shown, verdict(over, limit)));
  }
}

/** What is left in the database, largest first. */
function reportTables({ root }: TestProject): void {
  const database = new Database(statePath(root, "overstory.db"), { readonly: true });
  const names = database.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const counts = names.map(({ name }) => {
    const counted = database.query<{ rows: number }, []>(`SELECT COUNT(*) AS rows FROM "${name}"`).get();
    return { name, rows: counted?.rows ?? 0 };
  });
  database.close();
  for (const { name, rows } of counts.toSorted((a, b) => b.rows - a.rows).slice(0, 10))
    if (rows > 0) console.log(row(`  rows of ${name}`, String(rows)));
}
