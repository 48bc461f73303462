import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../testkit/project.ts";
import { commit, put, seat } from "../testkit/worktrees-world.ts";

/** Takes an object of a repository away, as a failing disk would. */
function lose(gitDir: string, id: string): void {
  rmSync(join(gitDir, "objects", id.slice(0, 2), id.slice(2)));
}

interface Damage {
  readonly name: string;
  readonly kind: "linked" | "clone";
  readonly hurt: (project: TestProject, path: string) => Promise<void>;
}

const treeOf = async (project: TestProject, path: string): Promise<string> =>
  (await project.git("-C", path, "rev-parse", "HEAD^{tree}")).trim();

const damages: readonly Damage[] = [
  {
    name: "a clone that lost the tree of its last commit",
    kind: "clone",
    hurt: async (project, path) => lose(join(path, ".git"), await treeOf(project, path)),
  },
  {
    name: "a clone that lost its last commit",
    kind: "clone",
    hurt: async (project, path) => {
      lose(join(path, ".git"), (await project.git("-C", path, "rev-parse", "HEAD")).trim());
    },
  },
  {
    name: "a clone that lost a file of an earlier commit",
    kind: "clone",
    hurt: async (project, path) => {
      const blob = (await project.git("-C", path, "rev-parse", "HEAD:hurt.txt")).trim();
      await commit(project, path, "hurt.txt", "later\n");
      lose(join(path, ".git"), blob);
    },
  },
  {
    name: "a linked worktree whose last commit lost its tree",
    kind: "linked",
    hurt: async (project, path) => lose(join(project.root, ".git"), await treeOf(project, path)),
  },
  {
    name: "a linked worktree whose index is no index",
    kind: "linked",
    hurt: async (project, path) => {
      const dir = (await project.git("-C", path, "rev-parse", "--absolute-git-dir")).trim();
      writeFileSync(join(dir, "index"), "this is no index\n");
    },
  },
];

/** One damaged worktree between two that are done with. */
async function hurtProject({ kind, hurt }: Damage): Promise<{ project: TestProject; path: string }> {
  const project = await makeProject({ files: { "a.txt": "a\n", ".gitignore": ".overstory/\n" } });
  await seat(project, "ann");
  await seat(project, "zoe", { worktreeKind: "clone" });
  const path = await seat(project, "mia", { worktreeKind: kind });
  await commit(project, path, "hurt.txt", "committed\n");
  put(path, "draft.txt", "only here\n");
  await hurt(project, path);
  return { project, path };
}

const worktreeOf = (project: TestProject, name: string): string => join(project.root, ".overstory", "worktrees", name);

/** The commands that the message tells the user to type. */
const fsck = (path: string): string => `git -C ${path} fsck`;

describe("one damaged worktree stays, and the others are cleaned all the same", () => {
  for (const damage of damages) {
    for (const force of [[], ["--force"]]) {
      test(`ov worktree clean ${force.join(" ")}: ${damage.name}`, async () => {
        const { project, path } = await hurtProject(damage);
        await using _ = project;
        const cleaned = await project.ov("worktree", "clean", ...force, "--json");
        const answer = JSON.parse(cleaned.out);
        expect(answer).toMatchObject({
          success: true,
          cleaned: ["overstory/ann/t-1", "overstory/zoe/t-1"],
          skipped: ["overstory/mia/t-1"],
          failed: [],
          reasons: [{ class: "damaged", reason: expect.stringContaining("git cannot read it"), next: fsck(path) }],
        });
        expect(cleaned.code).toBe(1);
        expect(["ann", "zoe"].map((name) => existsSync(worktreeOf(project, name)))).toEqual([false, false]);
        expect(readFileSync(join(path, "draft.txt"), "utf8")).toBe("only here\n");
      });
    }

    test(`ov clean: ${damage.name}`, async () => {
      const { project, path } = await hurtProject(damage);
      await using _ = project;
      const cleaned = await project.ov("clean", "--worktrees", "--branches", "--json");
      expect(cleaned.code).toBe(1);
      expect(JSON.parse(cleaned.out)).toMatchObject({
        worktreesCleaned: 2,
        keptWorktrees: [{ branch: "overstory/mia/t-1", class: "damaged", next: fsck(path) }],
        problems: [],
      });
      expect(["ann", "zoe"].map((name) => existsSync(worktreeOf(project, name)))).toEqual([false, false]);
      expect(readFileSync(join(path, "draft.txt"), "utf8")).toBe("only here\n");
    });
  }

  test("a worktree whose .git points nowhere is still readable, and is cleaned like any other", async () => {
    await using project = await makeProject({ files: { "a.txt": "a\n", ".gitignore": ".overstory/\n" } });
    const path = await seat(project, "ann");
    put(path, "draft.txt", "only here\n");
    writeFileSync(join(path, ".git"), "gitdir: /nowhere\n");
    expect(await project.json("worktree", "clean")).toMatchObject({ reasons: [{ class: "dirty" }] });
    await project.json("worktree", "clean", "--force");
    expect(await project.git("show", "refs/overstory/rescue/ann-1:draft.txt")).toBe("only here\n");
    expect(existsSync(path)).toBe(false);
  });
});
