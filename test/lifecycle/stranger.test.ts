import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { databaseOf, killServices, pidOf, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

test("a recorded pid that belongs to a stranger by now is signalled by nobody", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - touch: "\${env.HOME}/ready"
    - hang: true
`,
  });
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  await using stranger = startStranger();
  killServices(project);
  const pids = [await pidOf(project, "b1", "supervisor"), await pidOf(project, "b1", "agent")];
  for (const pid of pids) process.kill(pid, "SIGKILL");
  giveAway(project, stranger.pid);
  // The command dies when its intent is stored: takeover and the finishing of the stop are left to the engine.
  const kill = { OVERSTORY_TEST_KILL_AT: "command.after-commit" };
  expect((await project.ovWith({ env: kill }, "stop", "b1")).code).toBe(137);
  await project.json("status");
  await untilAgent(project, "b1", "completed/stopped");
  expect(await stranger.isUntouched()).toBe(true);
  giveAway(project, stranger.pid);
  const report = await project.json("stop", "b1", "--force");
  expect(report).toMatchObject({ stopped: true, alreadyEnded: true, pidKilled: false, killed: [] });
  expect(await stranger.isUntouched()).toBe(true);
});

/** A process of somebody else that would tell if any signal that can be caught reached it. */
function startStranger(): AsyncDisposable & { readonly pid: number; isUntouched(): Promise<boolean> } {
  const script = "trap 'echo hit' TERM HUP INT CONT; while :; do sleep 0.05; done";
  const child = Bun.spawn({ cmd: ["/bin/sh", "-c", script], stdio: ["ignore", "pipe", "ignore"] });
  let heard = false;
  void child.stdout
    .getReader()
    .read()
    .then(({ done }) => {
      heard = !done;
    });
  return {
    pid: child.pid,
    isUntouched: async () => {
      await Bun.sleep(120);
      return !heard && child.exitCode === null && child.signalCode === null;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Boot id and start token stay those of the dead: the number alone is the stranger's, and nobody says that it ended. */
function giveAway(project: TestProject, pid: number): void {
  using database = new Database(databaseOf(project));
  database.run("UPDATE processes SET ended_at = NULL, pid = ? WHERE role IN ('agent', 'supervisor')", [pid]);
}
