import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import type { TestProject } from "../../testkit/project.ts";
import { typed } from "../../testkit/worktrees-world.ts";
import { type FilterCase, filterCases, filterProject } from "./filters.world.ts";

const hasLfs = Bun.which("git-lfs") !== null;

/** The agent leaves a changed, a new and a staged file, and does not touch another; all go the same way. */
const scenario = ({ file }: FilterCase): string => `
- do:
    - shell: printf 'third line\\n' >> ${file}; printf 'fresh\\n' > new.${file}
    - shell: printf 'one\\ntwo\\n' > staged.${file}; git add staged.${file}
    - say: left as it is
`;

const bytes = (path: string): string => readFileSync(path).toString("latin1");

/** A project with an agent that has ended with uncommitted work; with the bytes of its files and what git makes of them. */
async function leftWork(filter: FilterCase) {
  const project = await filterProject(filter, { gates: ["true"], scenario: scenario(filter) });
  const { file } = filter;
  writeFileSync(join(project.root, `same.${file}`), "not touched\n");
  await project.git("add", `same.${file}`);
  await project.git("commit", "--quiet", "-m", "a file that the agent leaves alone");
  for (const name of filter.confirm) await project.json("trust", "add", name);
  await slingNew(project, "B1");
  await project.until(
    "the work is kept",
    async () => (await project.git("for-each-ref", "refs/overstory/snap/b1")) !== "",
  );
  await project.json("stop", "b1", "--force");
  const { worktreePath } = await project.agent("b1");
  const names = [file, `new.${file}`, `staged.${file}`, `same.${file}`];
  const lay = Object.fromEntries(names.map((name) => [name, bytes(join(worktreePath ?? "", name))]));
  const blobs: Record<string, string> = {};
  for (const name of names) {
    blobs[name] = (await project.git("hash-object", "--path", name, join(worktreePath ?? "", name))).trim();
  }
  return { project, names, lay, blobs };
}

const filesIn = (dir: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, bytes(join(dir, name))]));

async function blobsOf({ git }: TestProject, commit: string, names: readonly string[]) {
  const found: Record<string, string> = {};
  for (const name of names) found[name] = (await git("rev-parse", `${commit}:${name}`)).trim();
  return found;
}

describe("a snapshot of filtered files", () => {
  for (const [what, filter] of Object.entries(filterCases)) {
    test.skipIf(filter.needsLfs === true && !hasLfs)(`becomes what plain git makes of them: ${what}`, async () => {
      const { project: made, names, lay, blobs } = await leftWork(filter);
      await using project = made;
      await project.json("release", "b1");
      await project.until("it was cleaned", async () => (await project.agent("b1")).cleanedAt !== null);
      const back = join(project.home, "back");
      await project.json("snapshots", "restore", "b1", "--to", back, "--branch", "snapback");
      expect(filesIn(back, names)).toEqual(lay);
      expect(await blobsOf(project, "snapback", names)).toEqual(blobs);
      expect((await project.git("log", "-1", "--format=%P %an", "snapback")).trim()).toBe(
        `${(await project.git("rev-parse", "main")).trim()} Test`,
      );
      await project.json("merge", "--branch", "snapback");
      await project.json("merge", "promote");
      expect(await blobsOf(project, "main", names)).toEqual(blobs);
      expect(await project.git("status", "--porcelain", "--", ".", ":!.overstory")).toBe("");
    });
  }

  test("comes back by the command that a forced clean prints", async () => {
    const filter = filterCases["a filter of the repository's configuration"] as FilterCase;
    const { project: made, names, lay, blobs } = await leftWork(filter);
    await using project = made;
    // Beside the project: below it the place would count as the agent's.
    const path = `${project.root}-b1-rescued`;
    const { rescued } = await project.json("worktree", "clean", "--force");
    const [{ restore }] = rescued as readonly [{ restore: string }];
    expect(typed(project, restore)).toMatchObject({ code: 0 });
    expect(await blobsOf(project, "overstory/b1/B1", names)).toEqual(blobs);
    expect(filesIn(path, names)).toEqual(lay);
    expect(await project.git("-C", path, "status", "--porcelain")).toBe("");
  });

  test("is refused by the name of the filter that may not run, and nothing is made", async () => {
    const filter = filterCases["a filter of the repository's configuration"] as FilterCase;
    const { project: made } = await leftWork(filter);
    await using project = made;
    await project.json("release", "b1");
    await project.until("it was cleaned", async () => (await project.agent("b1")).cleanedAt !== null);
    await project.json("trust", "remove", "rot");
    const before = await project.git("for-each-ref");
    const back = join(project.home, "back");
    for (const place of [
      ["--branch", "snapback"],
      ["--to", back],
      ["--to", back, "--branch", "snapback"],
    ]) {
      const refused = await project.ov("snapshots", "restore", "b1", ...place, "--json");
      expect(refused.code).toBe(3);
      expect(jsonOf(refused)).toMatchObject({ error: expect.stringContaining("ov trust add rot") });
    }
    expect(await project.git("for-each-ref")).toBe(before);
    expect(existsSync(back)).toBe(false);
  });

  test("comes back with its agent, staged files as they lay there", async () => {
    const { project: made, names, lay } = await leftWork(filterCases["eol=crlf"] as FilterCase);
    await using project = made;
    const path = (await project.agent("b1")).worktreePath ?? "";
    // As a worktree has a file that git checked out.
    const name = "staged.a.txt";
    writeFileSync(join(path, name), "one\r\ntwo\r\n");
    await project.git("-C", path, "add", name);
    await project.json("release", "b1");
    await project.until("it was cleaned", async () => (await project.agent("b1")).cleanedAt !== null);
    await project.json("recover", "b1");
    await project.until("it is seated", async () => (await project.agent("b1")).worktreePath !== null);
    expect(filesIn(path, names)).toEqual({ ...lay, [name]: "one\r\ntwo\r\n" });
    await project.ov("stop", "b1", "--force");
  });
});
