import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aboutProcess } from "../../testkit/about-process.ts";
import { anotherEngineLeft, killServices } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";

/** Every agent waits in its turn until the test lets it go on. */
const patient = `
- do:
    - shell: printenv OVERSTORY_TOKEN > "$HOME/token.new" && mv "$HOME/token.new" "$HOME/token"
    - waitFor: { file: "\${env.HOME}/speak" }
    - ov: [mail, send, --to, "\${agent}", --subject, note, --body, to myself, --wake]
    - touch: "\${env.HOME}/spoken"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, d]
`;

test("of twenty commands that leave work at the same moment, one starts an engine", async () => {
  await using project = await makeProject({ scenario: patient, config: "agents:\n  maxConcurrent: 1\n" });
  const names = Array.from({ length: 20 }, (_, n) => `b${n}`);
  for (const name of names) await project.json("task", "create", "Wait", "--id", name.toUpperCase());
  using watch = watchServices(project);
  await Promise.all(names.map((name) => project.json("sling", name.toUpperCase(), "--name", name)));
  await project.until("a turn was running", async () => (await project.read((tx) => tx.turns.countRunning())) === 1);
  await Promise.all(names.map(() => project.json("status")));
  await anotherEngineLeft();
  expect(watch.seen()).toMatchObject({ engines: 1, keepers: 1 });
  expect(enginesIn(project)).toHaveLength(1);
}, 120_000);

test("after the death of engine and keeper twenty looks start one engine, which finds the running turn", async () => {
  await using project = await makeProject({ scenario: patient });
  await startOne(project);
  killServices(project);
  using watch = watchServices(project);
  await Promise.all(Array.from({ length: 20 }, () => project.json("status")));
  await project.until("the new engine had its seat", async () => enginesIn(project).length > 1);
  await anotherEngineLeft();
  expect(watch.seen()).toMatchObject({ engines: 1, keepers: 1 });
  expect(enginesIn(project)).toHaveLength(2);
  expect(await project.read((tx) => tx.turns.countRunning())).toBe(1);
}, 120_000);

test("a command inside an agent starts no engine, whatever it leaves to do; the operator's next one does", async () => {
  await using project = await makeProject({ scenario: patient });
  await startOne(project);
  const token = readFileSync(join(project.home, "token"), "utf8").trim();
  killServices(project);
  using watch = watchServices(project);
  await Bun.write(join(project.home, "speak"), "");
  await project.until("the agent had sent its mail", async () => existsSync(join(project.home, "spoken")));
  const asAgent = (...args: string[]) => project.ovWith({ env: { OVERSTORY_TOKEN: token } }, ...args);
  for (const args of [["status"], ["mail", "check"], ["prime"]]) expect((await asAgent(...args)).code).toBe(0);
  await anotherEngineLeft();
  expect(watch.seen()).toEqual({ engines: 0, keepers: 0 });

  await Bun.write(join(project.home, "go"), "");
  await project.json("status");
  await project.until("an engine worked again", async () => enginesIn(project).length > 1);
}, 120_000);

/** One agent in a turn that has said who it is. */
async function startOne(project: TestProject): Promise<void> {
  await project.json("task", "create", "Wait", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1");
  await project.until("the agent was at work", async () => existsSync(join(project.home, "token")));
}

/** Every engine that ever had the seat. */
function enginesIn(project: TestProject): unknown[] {
  const db = rawDatabase(project, "read");
  const rows = db.query("SELECT pid FROM processes WHERE role = 'engine'").all();
  db.close();
  return rows;
}

interface Watch extends Disposable {
  /** How many different ones were seen so far. */
  seen(): { readonly engines: number; readonly keepers: number };
}

/** Looks at the process table all the time, so that one that starts and gives up is seen as well. */
function watchServices(project: TestProject): Watch {
  const known = new Set(project.processes());
  const [engines, keepers] = [new Set<number>(), new Set<number>()];
  const look = (): void => {
    for (const pid of project.processes()) {
      if (known.has(pid)) continue;
      const words = commandLineOf(pid);
      const parents = commandLineOf(parentOf(pid));
      if (isKeeper(words) && !isKeeper(parents)) keepers.add(pid);
      else if (isEngine(words) && !isEngine(parents)) engines.add(pid);
    }
  };
  const timer = setInterval(look, 5);
  return {
    seen: () => {
      look();
      return { engines: engines.size, keepers: keepers.size };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** What an engine or a keeper starts looks like one itself until it has become what it shall be. */
const isKeeper = (words: readonly string[]): boolean => words.includes("ov-keeper");
const isEngine = (words: readonly string[]): boolean => words[1] === "engine" && words[2] === "run";

const commandLineOf = (pid: number): string[] => aboutProcess(pid, "cmdline").split("\0");

const parentOf = (pid: number): number => Number(/^PPid:\s*(\d+)/m.exec(aboutProcess(pid, "status"))?.[1] ?? 0);
