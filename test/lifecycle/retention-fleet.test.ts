import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { moveClock, untilAgent } from "../../testkit/lifecycle.ts";
import { inParallel } from "../../testkit/parallel.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** `RETENTION_AGENTS=200` plays the large form, and prints what it measured. */
const agents = Number(process.env.RETENTION_AGENTS ?? 4);
const isLarge = process.env.RETENTION_AGENTS !== undefined;

/** How much more there may be afterwards than before. */
const most = 1.1;

const scenario = `
- when: { agent: lost }
  do:
    - edit: { file: lost.txt, write: "work that lands nowhere\\n" }
    - commit: "work of lost"
    - ov: [mail, send, --to, operator, --type, question, --subject, lost, --body, go on?]
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
  /** Branches of agents, and refs of ours. */
  readonly refs: number;
  readonly trash: number;
}

test(`after two runs of ${agents} agents database, logs, refs and trash are where they were before, and work that landed nowhere stays`, async () => {
  await using project = await makeProject({
    scenario,
    gates: ["true"],
    files: { "README.md": "# Sample\n", ".gitignore": "cache/\n" },
    config: "agents:\n  maxSessionsPerRun: 0\n",
  });
  await run(project, ["warm"]);
  await project.json("sling", "lost", "--name", "lost", "--skip-task-check");
  await untilAgent(project, "lost", "between_turns");
  await project.json("stop", "lost");
  await project.json("release", "lost");
  await project.json("run", "complete", "--force");
  const lost = await project.git("rev-parse", "refs/heads/overstory/lost/lost");
  await later(project, 400);
  const before = await sizes(project);
  for (const prefix of ["a", "b"])
    await run(
      project,
      Array.from({ length: agents }, (_, n) => `${prefix}${n}`),
    );
  const full = await sizes(project);
  await later(project, 800);
  const after = await sizes(project);
  if (isLarge) console.log(JSON.stringify({ agents, before, full, after }, null, 2));
  expect(full.logs).toBeGreaterThan(before.logs);
  expect(full.refs).toBeGreaterThan(before.refs);
  expect({ ...after, database: 0 }).toEqual({ ...before, database: 0 });
  expect(after.database / before.database).toBeLessThanOrEqual(most);
  expect(await project.git("rev-parse", "refs/heads/overstory/lost/lost")).toBe(lost);
  expect((await project.read((tx) => tx.agents.list({}))).map(({ name }) => name)).toEqual(["lost"]);
  const landings = await project.read((tx) => tx.mergeOps.list({ kind: "land", status: "done" }));
  expect(landings.length).toBeGreaterThan(0);
  expect(landings.flatMap(({ request }) => request.members ?? [])).toEqual([]);
  expect(await project.git("show", "main:a0.txt")).toContain("work of a0");
  const { code, out, err } = await project.ov("doctor");
  expect({ code, out, err }).toMatchObject({ code: 0 });
}, 3_600_000);

const patienceFor = (names: readonly string[]): number => 60_000 + names.length * 10_000;

async function sling(project: TestProject, names: readonly string[]): Promise<void> {
  await inParallel(names, 4, async (name) => {
    await project.json("sling", name, "--name", name, "--skip-task-check");
  });
  const isDone = async (): Promise<boolean> => {
    const all = await project.read((tx) => tx.agents.list({ outcome: "done" }));
    return names.every((name) => all.some((agent) => agent.name === name));
  };
  await project.until(`all ${names.length} agents were done`, isDone, patienceFor(names));
}

async function run(project: TestProject, names: readonly string[]): Promise<void> {
  await sling(project, names);
  await project.json("merge", "--all");
  const isLanded = async (): Promise<boolean> => {
    const landed = await project.read((tx) => tx.merges.list({ statuses: ["merged"] }));
    const done = new Set(landed.map(({ agentName }) => agentName));
    return names.every((name) => done.has(name));
  };
  await project.until(`all ${names.length} agents had landed`, isLanded, patienceFor(names));
  await project.json("merge", "promote");
  for (const name of names) await project.ov("release", name);
  await project.json("run", "complete", "--force");
  // One look shows so much mail, and the next look says that it was read.
  const unread = () => project.read((tx) => tx.deliveries.countQueued("operator"));
  while ((await unread()) > 0) await project.ov("mail", "check");
  await project.ov("mail", "check");
  await project.settled(patienceFor(names));
}

const dayMs = 24 * 60 * 60_000;

/** Engines with their clocks so many days ahead. A pass is small: it looks into the trash of twenty agents. */
async function later(project: TestProject, days: number): Promise<void> {
  for (let pass = 0; pass < Math.ceil(agents / 10) + 2; pass++) {
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
  const refs = (await project.git("for-each-ref", "--format=%(refname)", "refs/overstory", "refs/heads/overstory"))
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
