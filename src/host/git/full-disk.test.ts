import { expect, test } from "bun:test";
import { existsSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../../../testkit/small-disk.ts";
import { Failure } from "../../domain/failure.ts";
import { gitWorktrees } from "./worktrees.ts";

const mountable = canMount();
if (!mountable) console.error("NOT TESTED: worktrees on a full disk, since none can be mounted here");

const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`src/${i}.txt`, `${i}\n`.repeat(200)]));

async function projectOn(disk: SmallDisk): Promise<TestProject> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = disk.dir;
  try {
    return await makeProject({ files });
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** Leaves so many bytes on the disk. */
function leave(disk: SmallDisk, bytes: number): void {
  disk.fill();
  const ballast = join(disk.dir, "ballast");
  truncateSync(ballast, Math.max(0, statSync(ballast).size - bytes));
}

const page = 4096;
/** Each page more lets it come one file further; then it is about the files of the project. */
const rooms = [...Array.from({ length: 14 }, (_, pages) => pages * page), 20 * page, 40 * page, 2 ** 20];

const ways: readonly (readonly [string, (project: TestProject) => Promise<unknown>])[] = [
  ["by hand", async () => {}],
  ["by git", (project) => project.git("pack-refs", "--all")],
];
for (const [way, arrange] of ways) {
  test.skipIf(!mountable)(
    `a worktree that is made ${way} is made, or the disk is full: wherever the space ends, it can be made later`,
    async () => {
      using disk = mountSmallDisk(24);
      await using project = await projectOn(disk);
      await arrange(project);
      const worktrees = gitWorktrees(project.root);
      const ends = new Set<string>();
      for (const [at, room] of rooms.entries()) {
        const path = join(project.root, ".overstory", "worktrees", `a${at}`);
        const branch = `overstory/a${at}/T1`;
        const request = { agentName: `a${at}`, branch, path, kind: "linked", baseRef: "main" } as const;
        leave(disk, room);
        const first = await worktrees.create(request).catch((error: unknown) => error);
        const refused = first instanceof Failure ? first.data.kind : first;
        expect({ room, refused }).toEqual({
          room,
          refused: room === rooms.at(-1) ? expect.objectContaining({ ok: true }) : "disk-full",
        });
        if (first instanceof Failure) {
          ends.add(String(first.cause).replaceAll(/'[^']*'|\d+/g, "…"));
          expect(existsSync(path)).toBe(false);
          expect(await project.git("worktree", "list", "--porcelain")).not.toContain(path);
        }
        disk.makeRoom();
        const began = performance.now();
        expect(await worktrees.create(request)).toMatchObject({ ok: true, value: { path, branch } });
        // What lay in its way, as if somebody still worked on it, would have been waited for this long.
        expect(performance.now() - began).toBeLessThan(10_000);
        expect(await project.git("-C", path, "status", "--porcelain")).toBe("");
      }
      // Git does not always say what kept it from writing.
      expect(ends.size).toBeGreaterThan(3);
    },
    300_000,
  );
}
