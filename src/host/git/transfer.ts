import { expectGit } from "./git.ts";
import { type OwnDir, openOwnDir } from "./own-dir.ts";
import type { GitProject } from "./repository.ts";

/** Git itself unpacks fetches up to this many objects; a pack for every small change would make reading slow. */
const unpackLimit = 100;

/**
 * Copies everything reachable from `wants` into the project's object store, except what is reachable from `haves`,
 * which must be complete there. Objects are named by their content and checked, so nothing planted in the other store
 * can pass for something else.
 */
export async function transfer(
  project: GitProject,
  from: OwnDir,
  { wants, haves }: { readonly wants: readonly string[]; readonly haves: readonly string[] },
): Promise<void> {
  const asked = [...wants, ...haves.map((commit) => `^${commit}`)].map((line) => `${line}\n`).join("");
  const packed = expectGit(
    await from.git(["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"], { stdin: asked }),
    "packing an agent's objects",
  ).raw;
  const count = packed.readUInt32BE(countOffset);
  if (count === 0) return;
  using into = openOwnDir({
    repository: project.repository,
    scratch: project.scratch,
    objects: "project",
  });
  const command = count <= unpackLimit ? ["unpack-objects", "-q", "--strict"] : ["index-pack", "--stdin", "--strict"];
  expectGit(await into.git(command, { stdin: packed }), "storing an agent's objects");
}

/** "PACK", the version, then the number of objects. */
const countOffset = 8;
