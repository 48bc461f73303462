import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Agent } from "../src/domain/agent/agent.ts";
import type { Store, Tx } from "../src/ports/store.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { markOfToken } from "./marked.ts";
import { jsonOf, type OvAnswer, runOv } from "./ov.ts";
import { projectProcesses } from "./project-processes.ts";
import { statePath } from "./state.ts";

export interface ProjectOptions {
  /** Files of the repository's first commit. */
  readonly files?: Readonly<Record<string, string>>;
  /** YAML put below the defaults in `.overstory/config.yaml`. */
  readonly config?: string;
  /** Commands of quality gates. */
  readonly gates?: readonly string[];
  /** The scenario every scripted agent of this project follows. */
  readonly scenario?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Leave it a plain repository. */
  readonly bare?: boolean;
}

export interface OvWith {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  readonly stray?: boolean;
}

/** A throwaway repository with an isolated HOME, in which everything is real. Disposing of it ends all its processes. */
export interface TestProject extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  ov(...args: string[]): Promise<OvAnswer>;
  /**
   * As `ov`, but with other variables and perhaps another directory. With the token of an agent it runs as a part of
   * that agent's turn, unless it is `stray`.
   */
  ovWith(call: OvWith, ...args: string[]): Promise<OvAnswer>;
  /** Runs with --json and returns the document; throws when the command failed. */
  json(...args: string[]): Promise<Record<string, unknown>>;
  git(...args: string[]): Promise<string>;
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  agent(name: string): Promise<Agent>;
  /** Waits until nothing runs, is queued for now or in a moment, or waits for a worktree. */
  settled(timeoutMs?: number): Promise<void>;
  until(what: string, condition: () => Promise<boolean>, timeoutMs?: number): Promise<void>;
  /** Pids of every process that works for this project. */
  processes(): number[];
}

/** Less than a test may take, so that it says what it waited for; more than any machine should need. */
const patienceMs = 50_000;

/** Mail is held back for less than this to be read together with what follows it. */
const aMomentMs = 1_000;

/** How long an agent waits is up to the test that lets it wait: the scenario's own limit would be one more to trip over. */
const patient = (scenario: string): string =>
  scenario.replaceAll(/waitFor: \{ file: ("[^"]*") \}/g, "waitFor: { file: $1, timeoutMs: 600000 }");

export async function makeProject(options: ProjectOptions = {}): Promise<TestProject> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ov-test-")));
  const root = join(base, "repo");
  const home = join(base, "home");
  const state = join(base, "state");
  for (const dir of [root, home, state]) mkdirSync(dir);
  const scenario = join(base, "scenario.yaml");
  writeFileSync(scenario, patient(options.scenario ?? "[]\n"));
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n",
  );
  const env = {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: home,
    TMPDIR: base,
    OVERSTORY_SCENARIO: scenario,
    OVERSTORY_SCENARIO_STATE: state,
    ...options.env,
  };
  const git = (...args: string[]): Promise<string> => runGit(root, env, args);
  await git("init", "--quiet", "--initial-branch=main");
  for (const [path, text] of Object.entries(options.files ?? { "README.md": "# Sample\n" })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  await git("add", "-A");
  await git("commit", "--quiet", "-m", "first");
  if (options.bare !== true) {
    mkdirSync(join(root, ".overstory"));
    mkdirSync(statePath(root), { mode: 0o700 });
    const gates = (options.gates ?? []).map(
      (command, at) => `    - name: gate-${at + 1}\n      command: ${JSON.stringify(command)}\n`,
    );
    const gated = gates.length === 0 ? "" : `  qualityGates:\n${gates.join("")}`;
    const defaults = `project:\n  name: sample\n  canonicalBranch: main\n${gated}runtime:\n  default: scripted\nengine:\n  idleExitMs: 300\n`;
    writeFileSync(join(root, ".overstory", "config.yaml"), defaults + (options.config ?? ""));
  }
  // Once: a test may move the repository, or delete it.
  const run = statePath(root, "run");
  const database = statePath(root, "overstory.db");
  let store: Store | undefined;
  const read = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    store ??= openSqlite({ path: database, life: "process", readOnly: true });
    return store.read(work);
  };
  const processes = projectProcesses(base);
  const until = async (what: string, condition: () => Promise<boolean>, timeoutMs = patienceMs): Promise<void> => {
    const deadline = performance.now() + timeoutMs;
    while (!(await condition())) {
      if (performance.now() > deadline)
        throw new Error(`waited ${timeoutMs} ms in vain until ${what}\n${logsOf(run)}\n${processes.table()}`);
      await Bun.sleep(20);
    }
  };
  const ovWith: TestProject["ovWith"] = async ({ stdin, cwd = root, stray, ...call }, ...args) => {
    const token = stray === true ? undefined : call.env?.OVERSTORY_TOKEN;
    const mark = token === undefined || !existsSync(database) ? undefined : await read((tx) => markOfToken(tx, token));
    return runOv(args, { cwd, env: { ...env, ...call.env }, mark, ...(stdin === undefined ? {} : { stdin }) });
  };
  const ov = (...args: string[]): Promise<OvAnswer> => ovWith({}, ...args);
  return {
    root,
    home,
    state,
    env,
    ov,
    ovWith,
    json: async (...args) => {
      const answer = await ov(...args, "--json");
      if (answer.code !== 0) throw new Error(`ov ${args.join(" ")} exited ${answer.code}: ${answer.out}${answer.err}`);
      return jsonOf(answer);
    },
    git,
    read,
    agent: async (name) => {
      const agent = await read((tx) => tx.agents.byName(name));
      if (agent === undefined) throw new Error(`there is no agent ${name}`);
      return agent;
    },
    settled: (timeoutMs) =>
      until(
        "everything was settled",
        async () => !(await read((tx) => tx.turns.dueWork(Date.now() + aMomentMs))),
        timeoutMs,
      ),
    until,
    processes: processes.pids,
    [Symbol.asyncDispose]: async () => {
      await store?.close();
      await processes.end();
      await removeAll(base);
    },
  };
}

async function runGit(cwd: string, env: Readonly<Record<string, string>>, args: readonly string[]): Promise<string> {
  const child = Bun.spawn({ cmd: ["git", ...args], cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`git ${args.join(" ")}: ${err}`);
  return out;
}

/** What was killed may have had a file in hand: then a directory is not empty after all, a moment long. */
async function removeAll(dir: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      rmSync(dir, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === 50) throw error;
    }
    await Bun.sleep(100);
  }
}

function logsOf(run: string): string {
  if (!existsSync(run)) return "";
  const logs = readdirSync(run).filter((name) => name.endsWith(".log"));
  return logs.map((name) => `--- ${name}\n${readFileSync(join(run, name), "utf8").slice(-3000)}`).join("\n");
}
