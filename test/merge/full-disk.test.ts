import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../../testkit/small-disk.ts";

const mountable = canMount();
if (!mountable) console.error("NOT TESTED: a promotion on a full disk, since none can be mounted here");

async function worldOn(disk: SmallDisk): Promise<LandingWorld> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = disk.dir;
  try {
    return await landingWorld();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** Leaves enough room for the store, and too little for the landed files. */
function fillButLittle(disk: SmallDisk): void {
  const little = join(disk.dir, "little");
  writeFileSync(little, new Uint8Array(1_500_000));
  disk.fill();
  rmSync(little);
}

test.skipIf(!mountable)(
  "a promotion without room for its files ends and says so, changes nothing, and works when there is room",
  async () => {
    using disk = mountSmallDisk(60);
    await using world = await worldOn(disk);
    expect(world.root).toStartWith(disk.dir);
    world.branch("a", () => writeFileSync(join(world.root, "large.bin"), randomBytes(4_600_000)));
    await world.enqueue("a");
    await world.work();
    const before = world.tip("main");
    fillButLittle(disk);
    const op = await world.promote();
    expect(op).toMatchObject({ status: "dropped", request: { cause: "disk_full" } });
    expect(op.problem).toContain(`on the disk that holds ${world.root}`);
    expect([world.tip("main"), existsSync(join(world.root, "large.bin"))]).toEqual([before, false]);
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
    expect(readdirSync(join(world.scratch, "moves"))).toEqual([]);
    disk.makeRoom();
    expect(await world.promote()).toMatchObject({ status: "done" });
    expect(existsSync(join(world.root, "large.bin"))).toBe(true);
  },
  60_000,
);
