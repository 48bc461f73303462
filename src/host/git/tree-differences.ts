import { expectGit, zeroEnded } from "./git.ts";
import type { OwnDir } from "./own-dir.ts";

/** A path that differs, with the letter git gives to the difference. */
export interface Difference {
  readonly path: Buffer;
  readonly status: string;
}

export async function differences(own: OwnDir, from: string, to: string): Promise<readonly Difference[]> {
  const args = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to];
  const parts = zeroEnded(expectGit(await own.git(args), "comparing commits").raw);
  const found: Difference[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [status, path] = [parts[at], parts[at + 1]];
    if (status !== undefined && path !== undefined) found.push({ status: status.toString(), path });
  }
  return found;
}
