import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld } from "./git-merge-world.ts";

export const files = {
  "a.txt": "a\n",
  "b.txt": "b\n",
  "dir/c.txt": "c\n",
  "gone/d.txt": "d\n",
  becomes: "a file\n",
  "mine.txt": "mine\n",
  ".gitignore": "*.log\n",
};

export interface Prepared {
  readonly world: GitMergeWorld;
  readonly from: string;
  readonly to: string;
}

/** A next commit with every kind of change, and a user with work of their own beside it. */
export function prepared(): Prepared {
  const world = gitMergeWorld({ files });
  const { root } = world;
  const from = world.tip("main");
  const to = world.branch("next", () => {
    world.write(root, "a.txt", "new a\n");
    world.write(root, "new/deep/n.txt", "n\n");
    world.write(root, "run.sh", "#!/bin/sh\n");
    chmodSync(join(root, "run.sh"), 0o755);
    symlinkSync("a.txt", join(root, "link"));
    rmSync(join(root, "gone"), { recursive: true });
    rmSync(join(root, "becomes"));
    world.write(root, "becomes/one.txt", "one\n");
    rmSync(join(root, "dir"), { recursive: true });
    world.write(root, "dir", "a file now\n");
    chmodSync(join(root, "b.txt"), 0o755);
  });
  world.write(root, "mine.txt", "changed\n");
  world.write(root, "staged.txt", "staged\n");
  world.git(root, "add", "staged.txt");
  world.write(root, "untracked.txt", "u\n");
  world.write(root, "x.log", "ignored\n");
  return { world, from, to };
}

/** Every file with its kind and bytes, and what git says. */
export function everything({ root, git }: GitMergeWorld): unknown {
  const seen = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.parentPath.includes("/.git") && entry.name !== ".git")
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => {
      const stat = lstatSync(path);
      const text = stat.isFile() ? readFileSync(path, "latin1") : stat.isSymbolicLink() ? readlinkSync(path) : "dir";
      return `${path} ${(stat.mode & 0o100) !== 0} ${text}`;
    });
  const says = [
    ["status", "--porcelain=v2", "--branch", "--ignored"],
    ["diff", "--cached"],
    ["symbolic-ref", "HEAD"],
  ];
  return [seen.toSorted(), ...says.map((args) => git(root, ...args))];
}
