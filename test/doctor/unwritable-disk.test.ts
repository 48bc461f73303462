import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { canMount, mountSmallDisk } from "../../testkit/small-disk.ts";

const mountable = canMount();
if (!mountable) console.error("NOT TESTED: doctor on a full or read-only disk, since none can be mounted here");

test.skipIf(!mountable)(
  "doctor fails on a disk that nothing can be stored on, and says what to do",
  async () => {
    using disk = mountSmallDisk(24);
    await using project = await projectOn(disk.dir);
    await project.json("task", "create", "One");
    await project.until("all had ended", async () => project.processes().length === 0);
    expect((await project.ov("doctor", "--category", "structure")).code).toBe(0);
    disk.fill();
    const full = await project.ov("doctor", "--category", "structure");
    expect([full.code, full.out]).toEqual([5, expect.stringMatching(/the disk that holds .* is full/)]);
    const started = await project.ov("engine", "start");
    expect([started.code, started.err]).toEqual([6, expect.stringMatching(/the disk .*is full/)]);
    expect(started.err).not.toContain("outside the agent");
    disk.makeRoom();
    await project.until("no engine was tried any more", async () => project.processes().length === 0);
    using _ = readOnly(disk.dir);
    const looked = await project.ov("doctor", "--category", "structure");
    expect([looked.code, looked.out]).toEqual([5, expect.stringMatching(/is mounted read-only.*mount -o remount,rw/)]);
    const status = await project.ov("status");
    expect([status.code, status.out]).toEqual([0, expect.stringContaining("is mounted read-only")]);
    const written = await project.ov("task", "create", "Two");
    expect([written.code, written.err]).toEqual([3, expect.stringContaining("mount -o remount,rw")]);
    expect(written.err).not.toContain("who owns");
    for (const args of [
      ["sling", "Three things"],
      ["go", "All of it", "--yes"],
      ["config", "set", "agents.maxDepth", "1"],
      ["engine", "start"],
      ["spec", "write", "T1", "--body", "text"],
    ]) {
      const { code, err } = await project.ov(...args);
      expect([args, code, err]).toEqual([args, 3, expect.stringContaining("its disk is mounted read-only")]);
      // Findmnt finds nothing for a path that is not there.
      expect(existsSync(/findmnt -no TARGET -T ([^)]+)\)/.exec(err)?.[1] ?? "")).toBe(true);
    }
    const inbox = await project.ov("inbox", "--read");
    expect([inbox.code, inbox.out, inbox.err]).toEqual([
      0,
      expect.stringContaining("is mounted read-only"),
      expect.stringContaining("as with --peek"),
    ]);
  },
  60_000,
);

/** Lets nothing be written to this disk for a while. */
function readOnly(dir: string): Disposable {
  const remount = (how: string) => Bun.spawnSync(["mount", "-o", `remount,${how}`, dir]).exitCode;
  expect(remount("ro")).toBe(0);
  return { [Symbol.dispose]: () => void remount("rw") };
}

/** The repository and its state are on that disk. */
async function projectOn(dir: string): Promise<TestProject> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = dir;
  try {
    return await makeProject();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
