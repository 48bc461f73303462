import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProcessIdentity } from "../../src/domain/process/process.ts";
import { linuxProcesses } from "../../src/host/processes.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** Each agent writes a commit and leaves a file uncommitted; both hold a string that must never be lost. */
const work = (agent: string): string => `
    - shell: |
        echo PLANT.${agent}.commit > ${agent}.txt; git add ${agent}.txt; git commit -qm "work of ${agent}" || true
        echo PLANT.${agent}.loose > loose-${agent}.txt`;

/** `waits*` ask a question and wait; `hands*` hand their branch over; `frees*` finish without code and are released. */
const scenario = `
- when: { agent: "waits", turn: 1 }
  do:${work("waits")}
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, "which?"]
- when: { agent: "waits*" }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, "which?"]
- when: { agent: "hangs", attempt: 1 }
  do:
    - shell: sleep 600
- when: { agent: "hands" }
  do:${work("hands")}
    - shell: git add -A; git commit -qm rest
    - ov: [done, --summary, finished]
- when: { agent: "hands2" }
  do:${work("hands2")}
    - shell: git add -A; git commit -qm rest
    - ov: [done, --summary, finished]
- do:
    - ov: [done, --no-code, --summary, looked]
`;

type Value = string | number | null;

export interface DoctorWorld {
  readonly project: TestProject;
  readonly root: string;
  readonly state: string;
  sql(text: string, ...values: Value[]): void;
  put(table: string, row: Readonly<Record<string, Value>>): void;
  ask(text: string, ...values: Value[]): Value;
  git(...args: string[]): Promise<string>;
  /** Writes a file below the state directory, older than any operation. */
  file(path: string, text?: string): string;
  /** A process that does nothing, for the test to be found. */
  sleeper(): ProcessIdentity & { readonly spawned: { kill(): void } };
  /** Strings that were planted and that neither a ref nor a kept file holds. */
  lost(): Promise<readonly string[]>;
  readonly planted: Set<string>;
  /** No process of the project is left. */
  atRest(): Promise<void>;
}

export const dead: ProcessIdentity = {
  pid: 4_194_303,
  startToken: "1",
  bootId: linuxProcesses.self().bootId,
};

export const old = (path: string): string => {
  utimesSync(path, new Date(1_700_000_000_000), new Date(1_700_000_000_000));
  return path;
};

export async function makeDoctorWorld(agents: readonly string[]): Promise<DoctorWorld & AsyncDisposable> {
  const project = await makeProject({ scenario, config: "worktree: {}\n" });
  const { root } = project;
  const state = statePath(root);
  for (const name of agents) await project.json("sling", `Work of ${name}`, "--name", name, "--skip-task-check");
  // Now: later commands would start an engine, which mends what a test has broken.
  for (const id of ["T-held", "T-closed", "T-part", "T-spec"]) await project.json("task", "create", id, "--id", id);
  await project.json("spec", "write", "T-spec", "--body", "do it");
  await project.settled();
  const planted = new Set<string>();
  const sleepers: { kill(): void }[] = [];
  const database = <T>(use: (db: Database) => T): T => {
    const db = new Database(join(state, "overstory.db"));
    try {
      db.run("PRAGMA busy_timeout = 5000");
      db.run("PRAGMA foreign_keys = OFF");
      return use(db);
    } finally {
      db.close();
    }
  };
  const world: DoctorWorld = {
    project,
    root,
    state,
    planted,
    sql: (text, ...values) => database((db) => db.query(text).run(...values)),
    put: (table, row) =>
      database((db) => {
        const names = Object.keys(row);
        const marks = names.map(() => "?").join(", ");
        db.query(`INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(", ")}) VALUES (${marks})`).run(
          ...Object.values(row),
        );
      }),
    ask: (text, ...values) =>
      database(
        (db) => Object.values((db.query(text).get(...values) as Record<string, Value>) ?? { none: null })[0] ?? null,
      ),
    git: project.git,
    file: (path, text = "") => {
      const full = join(state, path);
      mkdirSync(dirname(full), { recursive: true, mode: 0o700 });
      writeFileSync(full, text, { mode: 0o600 });
      return old(full);
    },
    sleeper: () => {
      const spawned = Bun.spawn(["sleep", "600"], { stdio: ["ignore", "ignore", "ignore"], detached: true });
      sleepers.push(spawned);
      const identity = linuxProcesses.identify(spawned.pid);
      if (identity === undefined) throw new Error("the sleeper is not there");
      return { ...identity, spawned };
    },
    lost: async () => {
      const found = new Set<string>();
      const collect = (text: string): void => {
        for (const [token] of text.matchAll(/PLANT\.[\w.-]+/g)) found.add(token);
      };
      collect(reachable(root));
      for (const dir of [join(root, ".overstory"), state]) keptFiles(dir, collect);
      return [...planted].filter((token) => !found.has(token));
    },
    atRest: () => project.until("nothing ran", async () => project.processes().length === 0),
  };
  await world.atRest();
  return {
    ...world,
    [Symbol.asyncDispose]: async () => {
      for (const one of sleepers) one.kill();
      await project[Symbol.asyncDispose]();
    },
  };
}

/** The content of every object that a ref reaches. */
function reachable(root: string): string {
  const git = (args: readonly string[], stdin?: Buffer): Buffer =>
    Bun.spawnSync(["git", ...args], { cwd: root, maxBuffer: 1 << 28, ...(stdin === undefined ? {} : { stdin }) })
      .stdout;
  const ids = git(["rev-list", "--objects", "--all"])
    .toString("latin1")
    .split("\n")
    .map((line) => line.slice(0, 40))
    .filter((id) => id !== "");
  return git(["cat-file", "--batch"], Buffer.from(`${ids.join("\n")}\n`)).toString("latin1");
}

function keptFiles(dir: string, collect: (text: string) => void): void {
  if (!existsSync(dir)) return;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "logs" && entry.name !== "run") keptFiles(path, collect);
    } else if (entry.isFile() && !entry.name.includes(".db") && statSync(path).size < 1 << 24) {
      collect(readFileSync(path, "latin1"));
    }
  }
}
