import { expect } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { KeepTerms } from "../src/ports/merge-git.ts";
import type { GitMergeWorld } from "./git-merge-world.ts";

/** A project with two directories into which setup installs. */
export const files = {
  "src/a.ts": "a\n",
  "packages/p/index.ts": "p\n",
  "package-lock.json": "{1}\n",
  ".gitignore": "node_modules/\ntarget/\ndist/\n.env\n",
};

export const roots = ["node_modules", "packages/p/node_modules"];

/** What setup makes: a library in each directory, a link to it, and a program. */
export function install(path: string, mark = "good"): void {
  for (const root of roots) {
    if (!existsSync(join(path, root, ".."))) continue;
    mkdirSync(join(path, root, "dep/lib"), { recursive: true });
    mkdirSync(join(path, root, ".bin"));
    writeFileSync(join(path, root, "dep/index.js"), `${mark}\n`);
    writeFileSync(join(path, root, "dep/lib/deep.js"), `${mark}\n`);
    writeFileSync(join(path, root, "dep/run"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync("../dep/run", join(path, root, ".bin/run"));
  }
}

/** Everything below a directory: kind, mode, content. */
export function listing(dir: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (at: string): void => {
    for (const name of readdirSync(join(dir, at)).toSorted()) {
      const path = at === "" ? name : `${at}/${name}`;
      const stat = lstatSync(join(dir, path));
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(join(dir, path))}`;
      else if (stat.isDirectory()) {
        found[path] = `dir ${mode}`;
        visit(path);
      } else found[path] = `${mode} ${stat.mtimeMs / 1000} ${readFileSync(join(dir, path), "utf8")}`;
    }
  };
  visit("");
  return found;
}

interface Installed {
  readonly world: GitMergeWorld;
  readonly main: string;
  readonly path: string;
  readonly keep: KeepTerms;
}

/** A slot in which setup ran on what has landed, and was kept. */
export async function installed(world: GitMergeWorld, more: Partial<KeepTerms> = {}): Promise<Installed> {
  const main = world.tip("main");
  const terms = { keepIgnored: ["node_modules", "target"], cache: [], setup: "install" };
  const keep: KeepTerms = { ...terms, landed: main, rest: "goes", ...more };
  const { path, installOn } = await world.merging.checkOut(0, main, keep);
  expect(installOn).toBe(main);
  install(path);
  expect(await world.merging.keepInstalled(0, main, keep)).toEqual({ kind: "kept" });
  return { world, main, path, keep };
}
