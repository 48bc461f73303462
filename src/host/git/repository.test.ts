import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { gitMergeWorld } from "../../../testkit/git-merge-world.ts";
import { openRepository } from "./repository.ts";

test("a repository that could not be read is read again by the next call", async () => {
  using world = gitMergeWorld();
  const open = openRepository(world.root);
  renameSync(`${world.root}/.git`, `${world.root}/away`);
  await expect(open()).rejects.toThrow("as a repository");
  renameSync(`${world.root}/away`, `${world.root}/.git`);
  const found = await open();
  expect(found.root).toBe(world.root);
  expect(await open()).toBe(found);
});
