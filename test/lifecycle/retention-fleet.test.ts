import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { moveClock } from "../../testkit/lifecycle.ts";
import { inParallel } from "../../testkit/parallel.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** `RETENTION_AGENTS=200` plays the large form, and prints what it measured. */
const agents = Number(process.env.RETENTION_AGENTS ?? 3);
const isLarge = process.env.RETENTION_AGENTS !== undefined;

const scenario = `
- do:
    - edit: { file: "\${agent}.txt", write: "work of \${agent}\\n" }
    - shell: mkdir -p cache && echo ignored > cache/x
    - commit: "work of \${agent}"
    - ov: [done, --summary, finished]
`;

interface Sizes {
  /** Bytes of the pages that hold something: pages that came free are used again. */
  readonly database: number;
  readonly logs: number;
  readonly refs: number;
  readonly trash: number;
}

test(`two runs of ${agents} agents leave no logs, trash and refs of ours when their days are over, and little in the database`, async () => {
  await using project = await makeProject({
    scenario,
    gates: ["true"],
    files: { "README.md": "# Sample\n", ".gitignore": "cache/\n" },
    config: "agents:\n  maxSessionsPerRun: 0\n",
  });
  await run(project, "warm", 1);
  await later(project, 400);
  const before = await sizes(project);
  await run(project, "a", agents);
  await run(project, "b", agents);
  const full = await sizes(project);
  await later(project, 800);
  const after = await sizes(project);
  if (isLarge) console.log(JSON.stringify({ agents, before, full, after }, null, 2));
  expect(full.logs).toBeGreaterThan(before.logs);
  expect(full.refs).toBeGreaterThan(before.refs);
  expect({ ...after, database: 0 }).toEqual({ ...before, database: 0 });
  // Rows of agents, tasks and landings stay, so that each can be recovered or undone: about four kilobytes for each agent.
  expect(after.database - before.database).toBeLessThanOrEqual(2 * agents * 6144);
  expect(after.database - before.database).toBeLessThan((full.database - before.database) / 3);
}, 3_600_000);

async function run(project: TestProject, prefix: string, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, n) => `${prefix}${n}`);
  const patience = 60_000 + count * 10_000;
  await inParallel(names, 4, async (name) => {
    await project.json("sling", name, "--name", name, "--skip-task-check");
  });
  const isDone = async (): Promise<boolean> => {
    const all = await project.read((tx) => tx.agents.list({ outcome: "done" }));
    return names.every((name) => all.some((agent) => agent.name === name));
  };
  await project.until(`all ${count} agents were done`, isDone, patience);
  await project.json("merge", "--all");
  const isLanded = async (): Promise<boolean> => {
    const landed = await project.read((tx) => tx.merges.list({ statuses: ["merged"] }));
    const done = new Set(landed.map(({ agentName }) => agentName));
    return names.every((name) => done.has(name));
  };
  await project.until(`all ${count} agents had landed`, isLanded, patience);
  await project.json("merge", "promote");
  for (const name of names) await project.ov("release", name);
  await project.json("run", "complete", "--force");
  await project.ov("mail", "check");
  await project.settled(patience);
}

const dayMs = 24 * 60 * 60_000;

/** An engine with its clock so many days ahead. A pass is small, so it takes a few. */
async function later(project: TestProject, days: number): Promise<void> {
  for (let pass = 0; pass < Math.ceil(agents / 50) + 1; pass++) {
    await moveClock(project, (days + pass) * dayMs);
    await project.until("the engine had left", async () => project.processes().length === 0, 120_000);
  }
}

async function sizes(project: TestProject): Promise<Sizes> {
  const db = new Database(statePath(project.root, "overstory.db"));
  const pragma = (name: string): number =>
    Number(Object.values(db.query<Record<string, number>, []>(`PRAGMA ${name}`).get() ?? {})[0]);
  const database = (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  db.close();
  // The branches of agents stay until `ov clean --branches`: they are a person's to read.
  const refs = (await project.git("for-each-ref", "--format=%(refname)", "refs/overstory"))
    .split("\n")
    .filter((ref) => ref !== "");
  const trash = statePath(project.root, "trash");
  return {
    database,
    logs: bytesIn(statePath(project.root, "logs")),
    refs: refs.length,
    trash: existsSync(trash) ? readdirSync(trash).length : 0,
  };
}

const bytesIn = (dir: string): number =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true })
        .map((name) => statSync(join(dir, String(name))))
        .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0)
    : 0;
