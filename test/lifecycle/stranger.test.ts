import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "../../src/store/sqlite.ts";
import { databaseOf, killServices, pidOf, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";

const hanging = `
- do:
    - touch: "\${env.HOME}/ready"
    - hang: true
`;

describe("a recorded pid that belongs to a stranger by now", () => {
  test("is signalled by no stop and no takeover", async () => {
    await using project = await makeProject({ scenario: hanging });
    await using stranger = startStranger();
    await succeed(project, stranger.pid);
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

  test("is signalled by no watchdog", async () => {
    await using project = await makeProject({ scenario: hanging });
    await using stranger = startStranger();
    await succeed(project, stranger.pid);
    // The watchdog's last resort is a wish in the store, which the engine fulfils.
    const { id } = await project.agent("b1");
    const store = openSqlite({ path: databaseOf(project), life: "command" });
    await store.transaction((tx) => tx.agents.requestStop(id, "watchdog"));
    await store.close();
    await project.json("status");
    await untilAgent(project, "b1", "zombie/stalled");
    expect(await stranger.isUntouched()).toBe(true);
  });

  const cleanings = { "worktree clean": ["worktree", "clean"], clean: ["clean", "--all", "--yes"] };
  test.each(Object.entries(cleanings))("is not signalled by `ov %s`", async (_, words) => {
    await using project = await makeProject({ scenario: hanging });
    await slingNew(project, "B1");
    await untilFile(project, "ready");
    await project.json("stop", "b1");
    await using stranger = startStranger();
    giveAway(project, stranger.pid);
    await project.json(...words, "--force");
    expect(existsSync(join(project.root, ".overstory", "worktrees", "b1"))).toBe(false);
    // What the command leaves to the engine is done then, too.
    await project.until("it was cleaned", async () => (await project.agent("b1")).cleanedAt !== null);
    expect(await stranger.isUntouched()).toBe(true);
  });
});

/** An agent is cut down in its turn with everything around it, and its number given to the stranger. */
async function succeed(project: TestProject, stranger: number): Promise<void> {
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  killServices(project);
  const pids = [await pidOf(project, "b1", "supervisor"), await pidOf(project, "b1", "agent")];
  for (const pid of pids) process.kill(pid, "SIGKILL");
  giveAway(project, stranger);
}

/** A process of somebody else that would tell if any signal that can be caught reached it. */
function startStranger(): AsyncDisposable & { readonly pid: number; isUntouched(): Promise<boolean> } {
  const script = "trap 'echo hit' TERM HUP INT CONT; trap 'echo asked' WINCH; while :; do sleep 0.05; done";
  const child = Bun.spawn({ cmd: ["/bin/sh", "-c", script], stdio: ["ignore", "pipe", "ignore"] });
  const output = child.stdout.getReader();
  return {
    pid: child.pid,
    // The signal with the highest number is handled last: the answer to it comes behind that to any other.
    isUntouched: async () => {
      child.kill("SIGWINCH");
      const { value } = await output.read();
      return new TextDecoder().decode(value) === "asked\n";
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Boot id and start token stay those of the dead: the number alone is the stranger's, and nobody says that it ended. */
function giveAway(project: TestProject, pid: number): void {
  using database = rawDatabase(project, "write");
  database.run("UPDATE processes SET ended_at = NULL, pid = ? WHERE role IN ('agent', 'supervisor')", [pid]);
}
