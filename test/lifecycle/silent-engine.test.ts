import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pidsOf } from "../../src/host/kill-points.ts";
import { linuxProcesses } from "../../src/host/processes.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import {
  databaseOf,
  freeze,
  freezeAtRest,
  isFrozen,
  killOnceAt,
  letGo,
  pidOf,
  thaw,
  untilFile,
} from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** An engine that stays, and is given up after little more than a second of silence. */
const hasty = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000", OVERSTORY_TEST_LEASE_MS: "600" };
/** An engine whose silence is watched for longer than any test takes. */
const patient = { ...hasty, OVERSTORY_TEST_LEASE_MS: "600000" };

const finishing = `
- do:
    - ov: [done, --no-code, --summary, done]
`;
const checked = `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: write a
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --summary, Done]
`;

const stopped = new Set<number>();
function stop(pid: number): void {
  stopped.add(pid);
  freeze(pid);
}
function goOn(pid: number): void {
  stopped.delete(pid);
  thaw(pid);
}
afterEach(() => {
  for (const pid of stopped) goOn(pid);
});

/** `atRest`: the stopped engine has no transaction open, which would hold the database. */
async function stoppedEngine(project: TestProject, { atRest = false } = {}): Promise<number> {
  const pid = Number((await project.json("engine", "start")).pid);
  stopped.add(pid);
  if (atRest) await freezeAtRest(project, pid);
  else freeze(pid);
  return pid;
}

/** A dead process that its parent has not waited for counts as gone. */
const isGone = (pid: number): boolean => {
  const identity = linuxProcesses.identify(pid);
  return identity === undefined || linuxProcesses.check(identity) === "gone";
};

const engines = (project: TestProject): number[] => pidsOf("engine", project.root);

const isDone = (project: TestProject, name: string): Promise<void> =>
  project.until(`${name} was done`, async () => (await project.agent(name)).outcome === "done");

/** Expects exactly one engine, and not the one that was stopped. */
async function expectReplaced(project: TestProject, old: number): Promise<void> {
  await project.until("the stopped engine was gone", async () => isGone(old));
  await project.until("one engine was left", async () => engines(project).length === 1);
  const { pid, answers } = await project.json("engine", "status");
  expect([pid === old, answers, engines(project)]).toEqual([false, true, [pid]]);
}

describe("an engine whose process was stopped", () => {
  test("is replaced for the work that a command leaves, and the command says why it may take longer", async () => {
    await using project = await makeProject({ scenario: finishing, env: hasty });
    const old = await stoppedEngine(project);
    const slung = await project.ov("sling", "Work", "--name", "b1", "--skip-task-check");
    expect(slung.code).toBe(0);
    expect(slung.err).toContain("the engine does not answer");
    expect(slung.err).toContain("ov engine status");
    await isDone(project, "b1");
    await expectReplaced(project, old);
  }, 120_000);

  test("does not keep a waiting command for ever, with keeper and all", async () => {
    await using project = await makeProject({ scenario: finishing, env: hasty });
    const old = await stoppedEngine(project);
    for (const pid of pidsOf("keeper", project.root)) stop(pid);
    const slung = await project.ov("sling", "Work", "--name", "b1", "--skip-task-check", "--wait=done");
    expect(slung.code).toBe(0);
    expect(slung.err.match(/.*does not answer.*/g)).toHaveLength(1);
    await expectReplaced(project, old);
  }, 120_000);

  test("is replaced by a supervisor for an agent that waits for it", async () => {
    await using project = await makeProject({ scenario: checked, gates: ["true"], env: hasty });
    await project.json("sling", "Work", "--name", "b1", "--skip-task-check");
    await project.until("the agent was at work", async () => existsSync(join(project.home, "ready")));
    const [old = 0] = engines(project);
    stop(old);
    await letGo(project);
    await isDone(project, "b1");
    await expectReplaced(project, old);
  }, 120_000);

  test("in the middle of a transaction does not lock commands out", async () => {
    await using project = await makeProject({ scenario: finishing, env: hasty });
    const marker = join(project.home, "stopped");
    const blow = {
      OVERSTORY_TEST_KILL_AT: "tx:2",
      OVERSTORY_TEST_KILL_IN: "engine",
      OVERSTORY_TEST_KILL_WITH: "SIGSTOP",
      OVERSTORY_TEST_KILL_ONCE: marker,
    };
    await project.ovWith({ env: blow }, "sling", "Work", "--name", "b1", "--skip-task-check");
    await project.until("the engine was stopped", async () => existsSync(marker));
    const [old = 0] = engines(project);
    stopped.add(old);
    await project.until("the engine had stopped itself", async () => isFrozen(old));
    const created = await project.ov("task", "create", "More", "--id", "T1");
    expect([created.code, created.err]).toEqual([0, expect.stringContaining("does not answer")]);
    await isDone(project, "b1");
    await expectReplaced(project, old);
  }, 120_000);

  test("is told by engine status, and replaced by engine start", async () => {
    await using project = await makeProject({ env: hasty });
    const old = await stoppedEngine(project);
    expect(await project.json("engine", "status")).toMatchObject({ running: true, answers: false, pid: old });
    expect((await project.ov("engine", "status")).out).toContain("ov engine start");
    const started = await project.json("engine", "start");
    expect(started).toMatchObject({ started: true });
    await expectReplaced(project, old);
  }, 120_000);

  test("is followed by run-until-idle in the foreground", async () => {
    await using project = await makeProject({ scenario: finishing, env: hasty });
    const old = await stoppedEngine(project, { atRest: true });
    const kill = { OVERSTORY_TEST_KILL_AT: "command.before-wake" };
    await project.ovWith({ env: kill }, "sling", "Work", "--name", "b1", "--skip-task-check");
    const ran = await project.ov("run-until-idle", "--timeout", "50");
    expect(ran.code).toBe(0);
    expect(ran.err).toContain("the engine does not answer");
    await isDone(project, "b1");
    expect(isGone(old)).toBe(true);
  }, 120_000);

  test("is ended by engine stop", async () => {
    await using project = await makeProject({ env: patient });
    await stoppedEngine(project);
    const answer = await project.ov("engine", "stop");
    expect(answer.err).toContain("the engine does not answer");
    expect(answer.code).toBe(0);
    await project.until("nobody was left", async () => project.processes().length === 0);
  }, 120_000);

  test("keeps its place when it goes on in time", async () => {
    await using project = await makeProject({ scenario: finishing, env: patient });
    const old = await stoppedEngine(project, { atRest: true });
    await project.ov("sling", "Work", "--name", "b1", "--skip-task-check");
    await project.until("another one watched it", async () => engines(project).length === 2);
    goOn(old);
    await isDone(project, "b1");
    await project.until("the watcher had left", async () => engines(project).length === 1);
    expect(engines(project)).toEqual([old]);
  }, 120_000);

  test("keeps its place when its successor slept as long as it did, as on a suspended machine", async () => {
    await using project = await makeProject({
      scenario: finishing,
      env: { ...hasty, OVERSTORY_TEST_LEASE_MS: "4000" },
    });
    const old = await stoppedEngine(project, { atRest: true });
    await project.ov("sling", "Work", "--name", "b1", "--skip-task-check");
    const watchers = (): number[] => engines(project).filter((pid) => pid !== old);
    await project.until("another one watched it", async () => watchers().length === 1);
    const [watcher = 0] = watchers();
    stop(watcher);
    // Longer than the silence after which a successor replaces an engine.
    await Bun.sleep(9_000);
    goOn(watcher);
    goOn(old);
    await isDone(project, "b1");
    await project.until("the watcher had left", async () => watchers().length === 0);
    expect(engines(project)).toEqual([old]);
  }, 120_000);
});

test("an engine that finds its seat taken when it goes on leaves without writing anything", async () => {
  await using project = await makeProject({ scenario: finishing, env: patient });
  const old = await stoppedEngine(project, { atRest: true });
  const kill = { OVERSTORY_TEST_KILL_AT: "command.before-wake" };
  await project.ovWith({ env: kill }, "sling", "Work", "--name", "b1", "--skip-task-check");
  const store = openSqlite({ path: databaseOf(project), life: "process" });
  try {
    await store.transaction((tx) => tx.leases.take("engine", null));
    const before = await store.changeCounter();
    // The byte wakes the engine when it goes on, so that it looks for work.
    const { socket } = JSON.parse(await Bun.file(statePath(project.root, "run", "engine.json")).text());
    const connection = await Bun.connect({ unix: socket, socket: { data: () => {} } });
    connection.write("w");
    goOn(old);
    await project.until("it had left with its keeper", async () => project.processes().length === 0);
    expect(await store.changeCounter()).toBe(before);
    expect((await project.agent("b1")).state).toBe("booting");
  } finally {
    await store.close();
  }
}, 120_000);

test.each(["seat.after-fact", "engine.listening"])(
  "a command that waits starts an engine again when engine and keeper are killed at once: %s",
  async (point) => {
    await using project = await makeProject({ scenario: finishing });
    const { marker, env: kill } = killOnceAt(project, point, "engine,keeper");
    const slung = await project.ovWith(
      { env: kill },
      "sling",
      "Work",
      "--name",
      "b1",
      "--skip-task-check",
      "--wait=done",
    );
    expect([existsSync(marker), slung.code]).toEqual([true, 0]);
    expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
  },
  120_000,
);

describe("a command that waits says what for", () => {
  test("gates that no engine has taken up", async () => {
    await using project = await makeProject({ gates: ["true"], env: patient });
    const engine = await stoppedEngine(project, { atRest: true });
    const gated = Bun.spawn({
      cmd: [ovBinary(), "gate", "run"],
      cwd: project.root,
      env: { ...project.env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let told = "";
    for await (const bytes of gated.stderr) {
      told += new TextDecoder().decode(bytes);
      if (told.includes("waiting for the engine to take this up")) goOn(engine);
    }
    expect([await gated.exited, told]).toEqual([0, expect.stringContaining("waiting for the engine to take this up")]);
    expect(told).toContain("ov engine status");
  }, 120_000);

  test("the end of an agent whose supervisor is stopped", async () => {
    const scenario = `- do: [{ touch: "\${env.HOME}/ready" }, { hang: true }]\n`;
    await using project = await makeProject({ scenario, env: patient });
    await project.json("sling", "Work", "--name", "b1", "--skip-task-check");
    await project.until("the agent was at work", async () => existsSync(join(project.home, "ready")));
    stop(await pidOf(project, "b1", "supervisor"));
    const { err } = await project.ov("stop", "b1");
    expect(err).toContain("waiting until the end of b1 is on record");
    expect(err).toContain("ov status");
  }, 120_000);
});

describe("an engine whose limit of file locks somebody lowered", () => {
  const limit = (pid: number): void => {
    const { exitCode, stderr } = Bun.spawnSync({ cmd: ["prlimit", "--pid", String(pid), "--locks=77"] });
    if (exitCode !== 0) throw new Error(stderr.toString());
  };
  const isOver = (project: TestProject, name: string) => async (): Promise<boolean> =>
    (await project.agent(name)).state === "completed";

  test("ends and is replaced by its keeper, and the operator is told", async () => {
    await using project = await makeProject({ scenario: finishing, env: hasty });
    const pid = Number((await project.json("engine", "start")).pid);
    limit(pid);
    await project.json("sling", "Some work", "--name", "b1");
    await project.until("b1 was done", isOver(project, "b1"));
    expect((await project.json("engine", "status")).pid).not.toBe(pid);
  });

  test("is replaced by the next command when its keeper has the limit too", async () => {
    await using project = await makeProject({ scenario: finishing, env: hasty });
    const pid = Number((await project.json("engine", "start")).pid);
    for (const each of [pid, ...pidsOf("keeper", project.root)]) limit(each);
    await project.json("sling", "Some work", "--name", "b1");
    await project.until("b1 was done", isOver(project, "b1"));
  });

  test("notices it by itself while agents work", async () => {
    await using project = await makeProject({ scenario: checked, env: hasty });
    await project.json("sling", "Some work", "--name", "b1");
    await untilFile(project, "ready");
    const { pid } = await project.json("engine", "status");
    limit(Number(pid));
    await letGo(project, "go");
    await project.until("b1 was done", isOver(project, "b1"));
    const mail = await project.read((tx) => tx.messages.list({ to: "operator", type: "error" }));
    expect(mail.map(({ subject }) => subject)).toEqual(["a program limited the engine"]);
  });
});
