import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runGit } from "../git.ts";
import type { Repository } from "../repository.ts";
import { configText } from "./lay-out.ts";
import { isRepository, type ModuleHome, openModule } from "./local-module.ts";

/**
 * Makes the user's module of a submodule that an agent added, empty, where `git submodule update --init` will look for
 * it. Its remote is what `.gitmodules` says, never what the agent's copy is configured to.
 */
export async function adoptModule(
  home: ModuleHome,
  { name, url, objectFormat }: { readonly name: string; readonly url: string; readonly objectFormat: string },
): Promise<Repository> {
  const [gitDir = ""] = home.gitDirs;
  const dir = join(gitDir, "modules", name);
  if (existsSync(dir)) return openModule(dir);
  for (let outer = dirname(dir); outer.length > join(gitDir, "modules").length; outer = dirname(outer)) {
    if (isRepository(outer)) throw new Error(`its name ${name} lies inside that of another submodule`);
  }
  const building = join(gitDir, "modules.preparing", name);
  rmSync(building, { recursive: true, force: true });
  for (const part of [["objects", "info"], ["objects", "pack"], ["refs", "heads"], ["refs", "tags"], ["info"]]) {
    mkdirSync(join(building, ...part), { recursive: true });
  }
  const remote = await absoluteUrl(url, home.workTree);
  const settings = [
    ["remote.origin.url", remote],
    ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
  ] as const;
  writeFileSync(join(building, "config"), configText({ objectFormat }, settings));
  writeFileSync(join(building, "HEAD"), "ref: refs/heads/main\n");
  mkdirSync(dirname(dir), { recursive: true });
  renameSync(building, dir);
  rmSync(join(gitDir, "modules.preparing"), { recursive: true, force: true });
  return openModule(dir);
}

/** As git resolves it: a relative one belongs to the remote of the repository that has the submodule. */
async function absoluteUrl(url: string, workTree: string): Promise<string> {
  if (!/^\.\.?\//.test(url)) return url;
  const answer = existsSync(workTree)
    ? await runGit({ cwd: workTree, args: ["config", "--get", "remote.origin.url"] })
    : undefined;
  let base = (answer?.code === 0 ? answer.out.trim() : workTree).replace(/\/+$/, "");
  let rest = url;
  for (;;) {
    if (rest.startsWith("./")) rest = rest.slice(2);
    else if (rest.startsWith("../")) {
      rest = rest.slice(3);
      base = base.replace(/[/:][^/:]*$/, "");
    } else return `${base}/${rest}`;
  }
}
