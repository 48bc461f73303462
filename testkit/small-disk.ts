import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A disk of its own that can be filled to the last byte. */
export interface SmallDisk extends Disposable {
  readonly dir: string;
  fill(): void;
  /** Gives back what `fill` took. */
  makeRoom(): void;
}

/** Whether this user may mount one here: some containers forbid it to root as well. */
export function canMount(): boolean {
  try {
    mountSmallDisk(1)[Symbol.dispose]();
    return true;
  } catch {
    // Whatever the reason, tests that need one cannot run.
    return false;
  }
}

export function mountSmallDisk(megabytes: number): SmallDisk {
  const dir = mkdtempSync(join(tmpdir(), "ov-disk-"));
  const options = `size=${megabytes}m,nr_inodes=20000`;
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "ov-test", dir]);
  if (mounted.exitCode !== 0) {
    rmSync(dir, { recursive: true });
    throw new Error(`no disk could be mounted: ${mounted.stderr.toString()}`);
  }
  const ballast = join(dir, "ballast");
  return {
    dir,
    fill: () => pour(ballast),
    makeRoom: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]: () => {
      const gone = Bun.spawnSync(["umount", "--lazy", dir]);
      if (gone.exitCode !== 0) throw new Error(`${dir} is still mounted: ${gone.stderr.toString()}`);
      rmSync(dir, { recursive: true });
    },
  };
}

/** Large pieces, then ever smaller ones, until not one byte is left. */
function pour(path: string): void {
  const file = openSync(path, "a");
  try {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 4)) while (added(file, size));
  } finally {
    closeSync(file);
  }
}

function added(file: number, size: number): boolean {
  try {
    return writeSync(file, new Uint8Array(size)) === size;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") return false;
    throw error;
  }
}
