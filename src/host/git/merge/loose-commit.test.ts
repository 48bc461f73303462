import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { openRepository } from "../repository.ts";
import { writeLooseCommit } from "./loose-commit.ts";

const at = new Date("2026-02-03T04:05:06.789Z");

for (const format of ["sha1", "sha256"]) {
  test(`a commit written without git is the one that git would write (${format})`, async () => {
    using world = gitMergeWorld({ format });
    const repository = await openRepository(world.root)();
    const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
    const [tree, parents] = [world.tip("main^{tree}"), [world.tip("main"), side]];
    const [name, email, message] = ["Ada Łovelace", "ada+x@example.invalid", "merge: überall\n\nOverstory-Task: t\n"];
    const offset = -at.getTimezoneOffset();
    const zone = `${offset < 0 ? "-" : "+"}${String(Math.floor(Math.abs(offset) / 60)).padStart(2, "0")}${String(Math.abs(offset) % 60).padStart(2, "0")}`;
    const date = `${Math.floor(at.getTime() / 1000)} ${zone}`;
    const done = Bun.spawnSync({
      cmd: ["git", "commit-tree", ...parents.flatMap((parent) => ["-p", parent]), tree],
      cwd: world.root,
      stdin: Buffer.from(message),
      env: {
        PATH: process.env.PATH ?? "",
        HOME: world.scratch,
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_NAME: name,
        GIT_COMMITTER_EMAIL: email,
        GIT_COMMITTER_DATE: date,
      },
    });
    const wanted = done.stdout.toString().trim();
    // Written by us into a repository that does not have it yet.
    world.git(world.root, "prune", "--expire=now");
    expect(writeLooseCommit(repository, { tree, parents, message, name, email, at })).toBe(wanted);
    expect(world.git(world.root, "cat-file", "-t", wanted)).toBe("commit");
    world.git(world.root, "update-ref", "refs/heads/kept", wanted);
    world.git(world.root, "fsck", "--strict", "--no-dangling");
  });
}

test("what git would change or refuse is left to git", async () => {
  using world = gitMergeWorld();
  const repository = await openRepository(world.root)();
  const plain = {
    tree: world.tip("main^{tree}"),
    parents: [world.tip("main")],
    message: "m\n",
    name: "A",
    email: "a@b",
  };
  const written = (change: Partial<typeof plain>) => writeLooseCommit(repository, { ...plain, ...change, at });
  expect(written({})).toMatch(/^[0-9a-f]{40}$/);
  for (const change of [
    { name: "" },
    { name: "A <x>" },
    { name: "A\nparent x" },
    { name: " A" },
    { name: "A." },
    { email: "a@b>" },
    { message: "a\0b" },
    { tree: "main" },
    { parents: [world.tip("main"), world.tip("main")] },
  ]) {
    expect(written(change)).toBeUndefined();
  }
  chmodSync(join(repository.objects), 0o2775);
  expect(written({ message: "shared\n" })).toBeUndefined();
});
