import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type KillPoint, killPoints } from "../../src/ports/kill-points.ts";
import { aboutProcess } from "../../testkit/about-process.ts";
import { expectSkeletonDone, skeletonProject } from "./skeleton.world.ts";

const victims = ["self", "keeper", "engine", "engine,keeper"] as const;
const atOnce = 4;

/** Points that stand in the `ov` command itself: whoever typed it types again. */
const inCommand = (point: KillPoint): boolean => point.startsWith("command.");

/** In the skeleton's journey nobody is stopped or released, nothing lands or is promoted, no gate runs, no agent asks during its turn, all work is committed and no one else touches a worktree. */
const inSkeleton = (point: KillPoint): boolean =>
  !["turn.after-snapshot", "turn.before-mending", "turn.after-mending"].includes(point) &&
  !["state", "stop", "release", "merge", "promote", "gate", "done", "reply", "notify"].includes(
    point.split(".")[0] ?? "",
  );

async function survives(point: KillPoint, who: (typeof victims)[number]): Promise<void> {
  await using project = await skeletonProject();
  await project.json("task", "create", "Write a greeting", "--id", "T1");
  const marker = join(project.state, "killed");
  const kill = { OVERSTORY_TEST_KILL_AT: point, OVERSTORY_TEST_KILL_ONCE: marker, OVERSTORY_TEST_KILL_WHO: who };
  const slung = await project.ovWith({ env: kill }, "sling", "T1", "--name", "b1");
  if (inCommand(point) && who === "self") {
    expect(slung.code).toBe(137);
    const stored = await project.read((tx) => tx.agents.byName("b1"));
    expect(stored === undefined).toBe(point === "command.before-commit");
    if (stored === undefined) await project.json("sling", "T1", "--name", "b1");
    else await project.json("status");
  } else {
    expect(slung.code).toBe(0);
  }
  await project.until(`${point} was reached`, async () => existsSync(marker));
  if (who === "engine,keeper") {
    // The marker is written just before the deaths: a look that came between them would find an engine and start none.
    await project.until("engine and keeper were dead", async () => !project.processes().some(isService));
    await project.json("status");
  }
  await expectSkeletonDone(project);
}

/** The engine, or its keeper, whose words end with those of the engine. */
const isService = (pid: number): boolean => aboutProcess(pid, "cmdline").includes("\0engine\0run\0");

for (const who of victims) {
  test(`the journey ends right when ${who === "self" ? "whoever reaches it" : who} is killed at any kill-point`, async () => {
    const queue = killPoints.filter(inSkeleton);
    const failures: string[] = [];
    const worker = async (): Promise<void> => {
      for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
        await survives(point, who).catch((error: unknown) => failures.push(`${point}: ${String(error)}`));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    expect(failures).toEqual([]);
  }, 480_000);
}

test("the commit of every write transaction is a kill-point: before it nothing is stored, after it everything", async () => {
  for (const [point, stored] of [
    ["tx:1", 0],
    ["tx:1+", 1],
    ["tx:2", 1],
  ] as const) {
    await using project = await skeletonProject();
    const kill = { OVERSTORY_TEST_KILL_AT: point, OVERSTORY_TEST_KILL_IN: "command" };
    const created = await project.ovWith({ env: kill }, "task", "create", "Write a greeting", "--id", "T1");
    expect({ point, code: created.code }).toEqual({ point, code: point === "tx:2" ? 0 : 137 });
    const tasks = await project.read((tx) => tx.tasks.list({}));
    expect({ point, stored: tasks.length }).toEqual({ point, stored });
  }
});

test("only the sort of process that is named listens", async () => {
  await using project = await skeletonProject();
  await project.json("task", "create", "Write a greeting", "--id", "T1");
  const marker = join(project.state, "killed");
  const kill = {
    OVERSTORY_TEST_KILL_AT: "tx:2+",
    OVERSTORY_TEST_KILL_IN: "supervisor",
    OVERSTORY_TEST_KILL_ONCE: marker,
  };
  expect((await project.ovWith({ env: kill }, "sling", "T1", "--name", "b1")).code).toBe(0);
  await project.until("the supervisor had been killed", async () => existsSync(marker));
  await expectSkeletonDone(project);
}, 120_000);
