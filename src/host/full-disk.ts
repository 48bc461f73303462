import { statfsSync } from "node:fs";

/** A database that cannot grow by this much cannot take a transaction. */
const leastRoom = 256 * 1024;

/** In words, that the disk with this directory has no room, so that nothing can go on; undefined when it has. */
export function fullDiskWords(state: string): string | undefined {
  const { bavail, bsize } = statfsSync(state);
  if (bavail * bsize >= leastRoom) return undefined;
  return `the disk that holds ${state} is full, so nothing can go on; make room, and it goes on by itself`;
}
