import { expect, test } from "bun:test";
import { join } from "node:path";
import { directChannel, remoteChannel } from "../src/compose/channel.ts";
import { openProject } from "../src/compose/project.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { commandChannelContract } from "../testkit/contracts/command-channel.ts";
import { ovBinary } from "../testkit/ov.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";

/** Keeps the engine up for the whole test. */
const longLived = { config: "", env: { OVERSTORY__ENGINE__IDLE_EXIT_MS: "60000" } };

function startEngine(project: TestProject): number {
  const child = Bun.spawn({
    cmd: [ovBinary(), "engine", "run", "--project", project.root],
    env: { ...project.env, OVERSTORY_PROJECT_ROOT: project.root },
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  child.unref();
  return child.pid;
}

commandChannelContract("direct", async (work) => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  const channel = directChannel(await openProject(project.root, project.env));
  await work({ project, channel });
  await channel.close();
});

commandChannelContract("remote", async (work) => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  await work({ project, channel: remoteChannel({ dir: join(project.root, ".overstory") }) });
});

test("a remote call outlives a restart of the engine and still acts once", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  const pid = startEngine(project);
  const channel = remoteChannel({ dir: join(project.root, ".overstory") });
  await channel.call({ name: "task.create", request: { title: "One", id: "T1" } });
  const identity = linuxProcesses.identify(pid);
  if (identity === undefined) throw new Error("the engine is not there");
  process.kill(pid, "SIGKILL");
  const pending = channel.call({ name: "task.create", request: { title: "Two", id: "T2" } });
  await project.until("the first engine was gone", async () => linuxProcesses.check(identity) === "gone");
  startEngine(project);
  expect(await pending).toMatchObject({ ok: true });
  expect((await project.read((tx) => tx.tasks.ids())).toSorted()).toEqual(["T1", "T2"]);
});

test("the same request id gets the first reply and changes nothing", async () => {
  await using project = await makeProject(longLived);
  await project.ov("status");
  startEngine(project);
  const { callEngine } = await import("../src/host/engine-door/caller.ts");
  const frame = JSON.stringify({ name: "task.create", request: { title: "Once" }, requestId: "request-1" });
  const first = await callEngine(join(project.root, ".overstory"), frame);
  const second = await callEngine(join(project.root, ".overstory"), frame);
  expect(second).toBe(first);
  expect(await project.read((tx) => tx.tasks.ids())).toHaveLength(1);
});
