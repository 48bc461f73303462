import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { deathNotices, eventsOf, ranTurns, slingNew, startsOf, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../../testkit/small-disk.ts";
import { statePath } from "../../testkit/state.ts";

const finishing = `
- do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
`;

/** A supervisor is given up after twice this time of silence: more than a busy machine makes of it. */
const leaseMs = 2_500;
const env = { OVERSTORY_TEST_LEASE_MS: String(leaseMs) };

const mountable = canMount();
if (!mountable) console.error("NOT TESTED: agents that start on a full disk, since none can be mounted here");

/** Done at its first try, by the supervisor that began it, and nobody was told of a death. */
async function expectDoneOnce(project: TestProject): Promise<void> {
  await untilAgent(project, "b1", "completed", "zombie");
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done" });
  expect(startsOf(project, "b1")).toHaveLength(1);
  expect(await ranTurns(project, "b1")).toMatchObject([{ status: "settled", attempt: 1, fence: 1 }]);
  expect(await deathNotices(project, "b1")).toEqual([]);
  expect(await project.git("show", "overstory/b1/B1:work.txt")).toBe("work\n");
}

/** The directories of turns are on a disk that is full. */
async function withoutRoomForTurns(disk: SmallDisk): Promise<TestProject> {
  const project = await makeProject({ scenario: finishing, env });
  // The project is in use before its disk is full.
  await project.json("task", "create", "First", "--id", "T0");
  symlinkSync(disk.dir, statePath(project.root, "logs"));
  disk.fill();
  await slingNew(project, "B1");
  await project.until("its turn had begun", async () => (await ranTurns(project, "b1")).length === 1);
  // Longer than it takes to give up on a supervisor, and than the first tries take to fail.
  await Bun.sleep(3 * leaseMs);
  expect(await ranTurns(project, "b1")).toMatchObject([{ status: "running", attempt: 1, fence: 1 }]);
  expect(startsOf(project, "b1")).toEqual([]);
  return project;
}

test.skipIf(!mountable)(
  "an agent for whose turn there is no room waits, and starts when there is",
  async () => {
    using disk = mountSmallDisk(1);
    await using project = await withoutRoomForTurns(disk);
    disk.makeRoom();
    await expectDoneOnce(project);
  },
  120_000,
);

test.skipIf(!mountable)(
  "an agent that waits for room can be stopped",
  async () => {
    using disk = mountSmallDisk(1);
    await using project = await withoutRoomForTurns(disk);
    expect(await project.json("stop", "b1")).toMatchObject({ stopped: true });
    expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped" });
    expect(startsOf(project, "b1")).toEqual([]);
  },
  120_000,
);

test.skipIf(!mountable)(
  "an agent for whose worktree there is no room stays reserved, and is seated when there is",
  async () => {
    using disk = mountSmallDisk(2);
    await using project = await makeProject({
      scenario: finishing,
      files: { "large.txt": "many words\n".repeat(30_000) },
      env,
    });
    await project.json("config", "set", "worktrees.baseDir", relative(project.root, join(disk.dir, "worktrees")));
    mkdirSync(join(disk.dir, "worktrees"));
    disk.fill();
    await slingNew(project, "B1");
    await project.until("it had been tried", async () => (await eventsOf(project, "engine_error")).length > 1);
    expect(await project.agent("b1")).toMatchObject({ state: "booting", outcome: null, worktreePath: null });
    expect(await project.read((tx) => tx.messages.list({ to: "operator" }))).toEqual([]);
    disk.makeRoom();
    await expectDoneOnce(project);
  },
  120_000,
);

test("a mirror of its pid that cannot be written or removed costs an agent nothing", async () => {
  await using project = await makeProject({ scenario: finishing, env });
  await project.json("task", "create", "First", "--id", "T0");
  mkdirSync(statePath(project.root, "agents", "b1", "turn.pid", "in the way"), { recursive: true });
  await slingNew(project, "B1");
  await expectDoneOnce(project);
}, 120_000);
