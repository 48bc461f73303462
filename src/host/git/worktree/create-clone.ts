import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SeatRequest } from "../../../ports/worktrees.ts";
import { fileRules, filterSettings } from "../filters.ts";
import { passOnFull } from "../full-disk.ts";
import { git } from "../git.ts";
import { hiddenSibling } from "../places.ts";
import { commitAt, newRef, pinRefs, setRef } from "../refs.ts";
import { type GitProject, makeGitDirectories } from "../repository.ts";
import { type Created, isTaken, seatOf } from "./create-linked.ts";
import { alternatesOf, isWorktreeOf } from "./open-worktree.ts";
import { populate } from "./populate.ts";

/**
 * Makes a repository of its own that reads, but never writes, the project's objects. Everything it relies on is pinned
 * in the project before. It is built beside its place and moved there in one step, so what stands there is complete.
 */
export async function createClone(project: GitProject, request: SeatRequest): Promise<Created> {
  const { path, branch } = request;
  if (await isWorktreeOf(project, request)) return seatOf(project, request);
  if (isTaken(path)) return { problem: "the directory exists and is not this agent's worktree" };
  const base = await commitAt(project, request.baseRef);
  if (base === undefined) return { problem: `there is no commit called ${request.baseRef}` };
  const ref = `refs/heads/${branch}`;
  const start = (await commitAt(project, ref)) ?? base;
  await setRef(project, `${pinRefs(request.agentName)}base`, base);
  await setRef(project, `${pinRefs(request.agentName)}heads/${branch}`, start);
  const building = hiddenSibling(path, "preparing");
  rmSync(building, { recursive: true, force: true });
  try {
    await layOut(project, building, { ref, start });
    await populate(project, { path: building, index: join(building, ".git", "index"), commit: start });
    await newRef(project, ref, start);
    renameSync(building, path);
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    passOnFull(error, path);
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  return seatOf(project, request);
}

/** By hand rather than `git init`, which copies whatever templates the user has. */
async function layOut(
  { repository }: GitProject,
  dir: string,
  { ref, start }: { readonly ref: string; readonly start: string },
): Promise<void> {
  const gitDir = join(dir, ".git");
  makeGitDirectories(gitDir);
  // A confined agent cannot add a hook: this directory is there, and it may only read it.
  mkdirSync(join(gitDir, "hooks"));
  const isPlain = repository.objectFormat === "sha1";
  const format = isPlain ? "" : `[extensions]\n\tobjectFormat = ${repository.objectFormat}\n`;
  writeFileSync(
    join(gitDir, "config"),
    `[core]\n\trepositoryFormatVersion = ${isPlain ? 0 : 1}\n\tbare = false\n${format}`,
  );
  writeFileSync(join(gitDir, "HEAD"), `ref: ${ref}\n`);
  writeFileSync(alternatesOf(gitDir), `${repository.objects}\n`);
  chmodSync(alternatesOf(gitDir), 0o444);
  const exclude = join(repository.commonDir, "info", "exclude");
  if (existsSync(exclude)) copyFileSync(exclude, join(gitDir, "info", "exclude"));
  const attributes = join(repository.commonDir, "info", "attributes");
  if (existsSync(attributes)) copyFileSync(attributes, join(gitDir, "info", "attributes"));
  mkdirSync(join(gitDir, ref, ".."), { recursive: true });
  writeFileSync(join(gitDir, ref), `${start}\n`);
  const { filters } = await fileRules(repository);
  const settings = [
    ...repository.plainSettings.map((setting) => splitSetting(setting)),
    // Git finds filters of the user's own configuration by itself; these are the repository's.
    ...filters.filter(({ standing }) => standing === "confirmed").flatMap(filterSettings),
    ...(await identity(repository.root)),
  ];
  for (const [key, value] of settings) {
    await git(dir, "config", "--file", join(gitDir, "config"), key, value);
  }
}

function splitSetting(setting: string): readonly [key: string, value: string] {
  const at = setting.indexOf("=");
  return [setting.slice(0, at), setting.slice(at + 1)];
}

/** The author of commits, where the project's own configuration names one; and the settings of its submodules. */
async function identity(root: string): Promise<readonly (readonly [string, string])[]> {
  const answer = await git(
    root,
    "config",
    "--local",
    "-z",
    "--get-regexp",
    "^(user\\.(name|email)|submodule\\..+\\.(url|active))$",
  );
  return answer.out
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [key = "", ...rest] = entry.split("\n");
      return [key, rest.join("\n")] as const;
    });
}
