import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { killServices, nobodyLeft } from "../testkit/lifecycle.ts";
import { jsonOf, ovBinary } from "../testkit/ov.ts";
import { makeProject, type ProjectOptions, type TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";

/** Keeps an idle engine up for the whole test. */
const longLived = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "60000" };

const finishing = `
- do:
    - ov: [done, --no-code, --summary, done]
`;

const waiting = `
- do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, done]
`;

async function withTask(options: ProjectOptions): Promise<TestProject> {
  const project = await makeProject(options);
  await project.json("task", "create", "Do it", "--id", "T1");
  return project;
}

/** The same command, typed later in a project where nothing is to be done, has answered. */
async function anotherIsIdle(): Promise<void> {
  await using other = await makeProject({});
  await other.json("run-until-idle");
}

/** Slings in a way that leaves the work to whoever comes next. */
const slingUnheard = (project: TestProject) =>
  project.ovWith({ env: { OVERSTORY_TEST_KILL_AT: "command.before-wake" } }, "sling", "T1", "--name", "b1");

const atWork = (project: TestProject): Promise<void> =>
  project.until("the agent was at work", async () => existsSync(join(project.home, "ready")));

describe("ov engine", () => {
  test("an engine that crashed with nothing left to do runs for no command", async () => {
    await using project = await withTask({ env: longLived });
    await project.json("engine", "start");
    expect((await project.ov("status")).out).toContain("Engine: running");
    killServices(project);
    await nobodyLeft(project);
    expect(await project.json("engine", "status")).toMatchObject({ running: false });
    expect((await project.ov("status")).out).toContain("Engine: not running");
    expect(await project.json("status")).toMatchObject({ engine: null });
  });

  test("starts one engine, shows it, and stops it with its keeper", async () => {
    await using project = await withTask({ env: longLived });
    const began = performance.now();
    expect(await project.json("engine", "status")).toMatchObject({
      running: false,
      pid: null,
      socket: null,
      version: null,
      runningTurns: 0,
      queuedTurns: 0,
    });
    const { pid, started } = await project.json("engine", "start");
    expect(started).toBe(true);
    expect(await project.json("engine", "start")).toMatchObject({ pid, started: false });
    const status = await project.json("engine", "status");
    expect(status).toMatchObject({ running: true, pid });
    expect(existsSync(String(status.socket))).toBe(true);
    expect(status.uptimeMs).toBeGreaterThanOrEqual(0);
    // Since its own start, not since that of the machine.
    expect(status.uptimeMs).toBeLessThanOrEqual(performance.now() - began);
    expect(await project.json("engine", "stop")).toMatchObject({ stopped: true, wasRunning: true, pid });
    await nobodyLeft(project);
    expect(await project.json("engine", "stop")).toMatchObject({ stopped: true, wasRunning: false, pid: null });
    const after = await project.json("engine", "status");
    expect(after).toMatchObject({ running: false, log: statePath(project.root, "run", "engine.log") });
    expect((await project.ov("engine", "status")).out).toContain(`Log: ${after.log}`);
  });

  test("leaves a running turn alone when it is stopped, and the turn finishes", async () => {
    await using project = await withTask({ scenario: waiting });
    await project.json("sling", "T1", "--name", "b1");
    await atWork(project);
    expect(await project.json("engine", "status")).toMatchObject({ running: true, runningTurns: 1 });
    const stopped = await project.ov("engine", "stop");
    expect(stopped).toMatchObject({ code: 0 });
    expect(stopped.err).toContain("turns that go on: 1");
    await Bun.write(join(project.home, "go"), "");
    await project.until("it completed", async () => (await project.agent("b1")).outcome === "done");
    await nobodyLeft(project);
  });

  test("counts what waits for an engine", async () => {
    await using project = await withTask({ scenario: waiting });
    await slingUnheard(project);
    expect(await project.json("engine", "status")).toMatchObject({ running: false, queuedTurns: 1, runningTurns: 0 });
  });

  test("is not an agent's to start, stop or install", async () => {
    await using project = await withTask({});
    const env = { OVERSTORY_TOKEN: "whatever", OVERSTORY_AGENT_NAME: "b1" };
    for (const words of [["engine", "start"], ["engine", "stop"], ["engine", "install"], ["run-until-idle"]]) {
      const answer = await project.ovWith({ env }, ...words);
      expect({ words, code: answer.code }).toEqual({ words, code: 8 });
      expect(answer.err).toContain("b1 may not");
    }
    expect(project.processes()).toEqual([]);
  });
});

describe("ov engine install", () => {
  test("prints a unit without writing it, or writes it and says how to switch it on", async () => {
    await using project = await withTask({});
    const printed = await project.ov("engine", "install", "--print");
    expect(printed.out).toContain(`"--project" "${project.root}"`);
    const { path, written } = await project.json("engine", "install", "--print");
    expect(String(path)).toStartWith(join(project.home, ".config", "systemd", "user", "overstory-"));
    expect(written).toBe(false);
    expect(existsSync(String(path))).toBe(false);
    const answer = await project.ov("engine", "install");
    expect(answer.out).toContain("systemctl --user enable --now overstory-");
    expect(readFileSync(String(path), "utf8")).toBe(printed.out);
    expect(await project.json("engine", "install")).toMatchObject({ path, written: false });
  });
});

describe("ov run-until-idle", () => {
  test("does all the work in the foreground and leaves nothing behind", async () => {
    await using project = await withTask({ scenario: finishing, env: longLived });
    await slingUnheard(project);
    expect(project.processes()).toEqual([]);
    expect(await project.json("run-until-idle", "--timeout", "50")).toMatchObject({
      idle: true,
      ending: "idle",
      runningTurns: 0,
      queuedTurns: 0,
    });
    expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done" });
    await nobodyLeft(project);
  });

  test("returns at once when there is nothing to do", async () => {
    await using project = await withTask({});
    expect((await project.ov("run-until-idle")).out).toBe("Nothing is left to do.\n");
  });

  test("waits for the engine that is already there", async () => {
    await using project = await withTask({ scenario: waiting });
    await project.json("sling", "T1", "--name", "b1");
    await atWork(project);
    const { pid } = await project.json("engine", "status");
    const answer = project.json("run-until-idle");
    await anotherIsIdle();
    expect(await project.json("engine", "status")).toMatchObject({ pid });
    await Bun.write(join(project.home, "go"), "");
    expect(await answer).toMatchObject({ idle: true });
    expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
  });

  test("waits for gates as it does for turns", async () => {
    await using project = await withTask({});
    const gate = { name: "slow", command: 'until [ -e "$HOME/go" ]; do sleep 0.05; done' };
    await project.json("config", "set", "project.qualityGates", JSON.stringify([gate]));
    const gated = project.ov("gate", "run");
    await project.until("the gate ran", async () => (await project.read((tx) => tx.checks.running())).length > 0);
    let over = false;
    const answer = project.json("run-until-idle", "--timeout", "50").then((value) => {
      over = true;
      return value;
    });
    await anotherIsIdle();
    expect(over).toBe(false);
    await Bun.write(join(project.home, "go"), "");
    expect(await answer).toMatchObject({ ending: "idle" });
    expect((await gated).code).toBe(0);
  });

  test("a check goes on after Ctrl-C, which says so, and the status of the engine counts it", async () => {
    await using project = await withTask({});
    const gate = { name: "slow", command: 'until [ -e "$HOME/go" ]; do sleep 0.05; done' };
    await project.json("config", "set", "project.qualityGates", JSON.stringify([gate]));
    const child = Bun.spawn({
      cmd: [ovBinary(), "gate", "run", "--json"],
      cwd: project.root,
      env: { ...project.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const work = async () => (await project.json("engine", "status")) as { runningChecks: number };
    await project.until("the gate ran", async () => (await work()).runningChecks === 1);
    child.kill("SIGINT");
    const answer = { out: await new Response(child.stdout).text(), err: "", code: await child.exited };
    expect(answer.code).toBe(130);
    expect(jsonOf(answer)).toMatchObject({
      success: false,
      error: expect.stringContaining("the check goes on"),
      exitCode: 130,
      hint: expect.stringContaining("ov engine status"),
    });
    expect(await work()).toMatchObject({ runningChecks: 1, waitingChecks: 0 });
    expect((await project.ov("engine", "status")).out).toContain("Gate checks: 1 running, 0 waiting");
    await Bun.write(join(project.home, "go"), "");
    await project.until("the check was over", async () => (await work()).runningChecks === 0);
  });

  test("a check that finds no free place is counted as waiting", async () => {
    await using project = await withTask({});
    const gate = { name: "slow", command: 'until [ -e "$HOME/go" ]; do sleep 0.05; done' };
    await project.json("config", "set", "project.qualityGates", JSON.stringify([gate]));
    await project.json("config", "set", "merge.parallelGates", "1");
    await project.git("commit", "--allow-empty", "--quiet", "-m", "second");
    const work = async () =>
      (await project.json("engine", "status")) as { runningChecks: number; waitingChecks: number };
    const first = project.ov("gate", "run");
    await project.until("the first gate ran", async () => (await work()).runningChecks === 1);
    const second = project.ov("gate", "run", "HEAD~1");
    await project.until("the second check was there", async () => (await work()).waitingChecks === 1);
    expect(await work()).toMatchObject({ runningChecks: 1, waitingChecks: 1 });
    await Bun.write(join(project.home, "go"), "");
    expect([(await first).code, (await second).code]).toEqual([0, 0]);
    expect(await work()).toMatchObject({ runningChecks: 0, waitingChecks: 0 });
  });

  test("ends at merges that wait for a person, with the lines of the status, with an engine beside it and without", async () => {
    await using project = await withTask({ env: longLived });
    for (const name of ["a", "b"]) {
      await project.git("checkout", "--quiet", "-b", name, "main");
      await Bun.write(join(project.root, `${name}.txt`), `${name}\n`);
      await project.git("add", `${name}.txt`);
      await project.git("commit", "--quiet", "-m", name);
    }
    await project.git("checkout", "--quiet", "main");
    expect((await project.ov("merge", "--branch", "a")).code).toBe(0);
    const landing = "overstory/integration/main";
    const look = join(project.home, "look");
    await project.git("worktree", "add", "--quiet", look, landing);
    await project.json("merge", "add", "b");
    await project.json("merge", "approve", "2");
    for (const engine of ["beside it", "none"]) {
      if (engine === "none") await project.json("engine", "stop");
      const { code, out } = await project.ov("run-until-idle", "--timeout", "60");
      expect({ engine, code, out }).toMatchObject({
        engine,
        code: 0,
        out: expect.stringMatching(
          /^Nothing is left to do without you\.\nMerges: 1 pending, 1 blocked\n! merge 2 of b is/,
        ),
      });
      expect(out.replaceAll(/\s+/g, " ")).toContain(`${landing} is checked out at ${look}`);
    }
    // Its next try would come after a minute. The command does not give up before that merge was tried.
    await project.git("worktree", "remove", look);
    const mended = await project.ov("run-until-idle", "--timeout", "60");
    expect(mended).toMatchObject({ code: 0, out: "Nothing is left to do.\n" });
    expect(await project.git("ls-tree", "--name-only", landing)).toContain("b.txt");
  });

  test("gives up with 124 when the time is over, and the turn that runs goes on", async () => {
    await using project = await withTask({ scenario: waiting });
    await project.json("sling", "T1", "--name", "b1");
    await atWork(project);
    // Whoever waits is the engine itself, then.
    await project.json("engine", "stop");
    const answer = await project.ov("run-until-idle", "--timeout", "2");
    expect(answer).toMatchObject({ code: 124, out: "The time is up. Turns: 1 running, 0 queued\n" });
    await Bun.write(join(project.home, "go"), "");
    await project.until("it completed", async () => (await project.agent("b1")).outcome === "done");
  });
});
