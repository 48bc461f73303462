import { rmSync } from "node:fs";
import { join } from "node:path";
import type { GitMergeWorld } from "./git-merge-world.ts";

/** A repository with the file `a.txt` on `main`. */
type World = Pick<GitMergeWorld, "root" | "tip" | "branch" | "write" | "git">;

const nowhere = "9".repeat(40);

/** Commits of which git cannot read something, by what that is. Each is made by ordinary commands of git. */
export const damages: Readonly<Record<string, (world: World) => string>> = {
  "an entry without a name": (world) => commitWith(world, entryOf("100644", "", world.tip("main:a.txt"))),
  "a mode that is none": (world) => commitWith(world, entryOf("9x", "m", world.tip("main:a.txt"))),
  "a tree of other bytes": (world) => commitOf(world, writeObject(world, "tree", "no tree at all"), world.tip("main")),
  "no tree": (world) => commitOf(world, nowhere, world.tip("main")),
  "no parent": (world) => commitOf(world, world.tip("main^{tree}"), nowhere),
  "no content of a file": (world) => commitWith(world, entryOf("100644", "gone", nowhere)),
  "a directory that is a file": (world) => commitWith(world, entryOf("40000", "dir", world.tip("main:a.txt"))),
  "a file that is a directory": (world) => commitWith(world, entryOf("100644", "file", world.tip("main^{tree}"))),
  "a file twice": (world) => commitWith(world, ...[1, 2].map(() => blobEntry(world, "f", "main:a.txt"))),
  "a file and a directory of one name": (world) =>
    commitWith(
      world,
      blobEntry(world, "x", "main:a.txt"),
      blobEntry(world, "x.y", "main:a.txt"),
      entryOf("40000", "x", world.tip("main^{tree}")),
    ),
  "files in no order": (world) => commitWith(world, ...["z", "a"].map((name) => blobEntry(world, name, "main:a.txt"))),
  "a file as its tip": (world) => world.tip("main:a.txt"),
  "a tip that is no commit": (world) => writeObject(world, "commit", "no commit at all"),
  "a file lost in the middle of its history": (world) => {
    world.branch("moment", () => world.write(world.root, "moment", "only for a moment\n"));
    const tip = world.branch("moment", () => rmSync(join(world.root, "moment")));
    rmSync(fileOf(world, world.tip("moment~1:moment")));
    world.git(world.root, "branch", "--quiet", "--delete", "--force", "moment");
    return tip;
  },
  "other bytes in the place of its commit": (world) => {
    const tip = commitOf(world, world.tip("main^{tree}"), world.tip("main"));
    rmSync(fileOf(world, tip));
    world.write(world.root, fileOf(world, tip).slice(world.root.length + 1), "x");
    return tip;
  },
  "a pipe in the place of its tree": (world) => {
    const tip = commitWith(world, entryOf("100644", "pipe", world.tip("main:a.txt")));
    const tree = fileOf(world, world.tip(`${tip}^{tree}`));
    rmSync(tree);
    Bun.spawnSync({ cmd: ["mkfifo", tree] });
    return tip;
  },
};

/** Makes a branch at any id: git itself refuses some of them. */
export const plantBranch = ({ root, write }: World, branch: string, id: string): void =>
  write(root, `.git/refs/heads/${branch}`, `${id}\n`);

/** Writes an object without the checks by which git keeps itself from writing such objects. */
function writeObject({ root }: World, type: "tree" | "commit", content: Buffer | string): string {
  const cmd = ["git", "hash-object", "-t", type, "-w", "--literally", "--stdin"];
  return Bun.spawnSync({ cmd, cwd: root, stdin: Buffer.from(content) })
    .stdout.toString()
    .trim();
}

const entryOf = (mode: string, name: string, id: string): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);

const blobEntry = (world: World, name: string, at: string): Buffer => entryOf("100644", name, world.tip(at));

const person = "a <a@x> 1 +0000";

const commitOf = (world: World, tree: string, parent: string): string =>
  writeObject(world, "commit", `tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\nx\n`);

const commitWith = (world: World, ...entries: readonly Buffer[]): string =>
  commitOf(world, writeObject(world, "tree", Buffer.concat(entries)), world.tip("main"));

const fileOf = ({ root }: World, id: string): string => join(root, ".git/objects", id.slice(0, 2), id.slice(2));
