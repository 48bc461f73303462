import { expect, test } from "bun:test";
import { canMount, mountSmallDisk } from "../testkit/small-disk.ts";
import { initWorld } from "./init.world.ts";

const mountable = canMount();
if (!mountable) console.error("NOT TESTED: a set-up on a full disk, since none can be mounted here");

test.skipIf(!mountable)("a set-up on a full disk says so, and works when there is room", async () => {
  using disk = mountSmallDisk(8);
  using world = await worldOn(disk.dir);
  await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
  disk.fill();
  const { code, out } = await world.ov("init", "--json");
  expect({ exit: code, ...JSON.parse(out) }).toMatchObject({
    exit: 6,
    success: false,
    error: expect.stringMatching(/^the disk that holds .* is full/),
    exitCode: 6,
    retryable: true,
    details: { kind: "disk-full" },
  });
  disk.makeRoom();
  expect(await world.json("init")).toMatchObject({ success: true, committed: true });
});

test.skipIf(!mountable)("a full disk is shown by the commands that only look, until there is room", async () => {
  using disk = mountSmallDisk(16);
  using world = await worldOn(disk.dir);
  await world.ov("init");
  const looks = [["status"], ["inbox"], ["engine", "status"]];
  const full = /^! the disk that holds .* is full, so nothing can go on; make room/m;
  for (const words of looks)
    expect({ words, ...(await world.ov(...words)) }).toMatchObject({
      words,
      code: 0,
      out: expect.not.stringMatching(full),
    });
  disk.fill();
  for (const words of looks) {
    expect({ words, ...(await world.ov(...words)) }).toMatchObject({
      words,
      code: 0,
      out: expect.stringMatching(full),
    });
    expect(await world.json(...words)).toMatchObject({ fullDisk: expect.stringContaining("is full") });
  }
  expect(await world.json("dashboard")).toMatchObject({ fullDisk: expect.stringContaining("is full") });
  disk.makeRoom();
  for (const words of looks) expect(await world.json(...words)).toMatchObject({ fullDisk: null });
});

/** The repository and its state are on that disk. */
async function worldOn(dir: string): ReturnType<typeof initWorld> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = dir;
  try {
    return await initWorld();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
