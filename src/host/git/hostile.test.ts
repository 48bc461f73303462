import { describe, expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GitWorld, gitWorld, requestFor, worktreeSetting } from "../../../testkit/contracts/worktrees/world.ts";
import { plantPrograms } from "../../../testkit/planted-programs.ts";
import { statePath } from "../../../testkit/state.ts";
import { trustName } from "../../domain/project/place.ts";
import { writeTrust } from "../trust-file.ts";
import { gitWorktrees } from "./worktrees.ts";

const { seated } = worktreeSetting("linked", (root) => gitWorktrees(root));

describe("nothing an agent can configure is run by us", () => {
  test("planted configuration of the project: create, inspect, snapshot, collect, landed, rescue, remove", async () => {
    using world = gitWorld({ files: { "a.x": "a\n", ".gitattributes": "* filter=x diff=x merge=x\n" } });
    withoutFilter(world);
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
    plantPrograms(world, join(world.root, ".git"));
    expect(world.read(owned.path, "a.x")).toBe("a\n");
    const refused = await worktrees.create(requestFor(world.worktree("bob", "linked")));
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining('filter "x"') } });
    await useAll(world, worktrees, owned);
    expect(world.sprung()).toBe(false);
  });

  test("planted configuration of a clone: inspect, snapshot, collect, rescue, remove", async () => {
    using world = gitWorld({ files: { "a.x": "a\n", ".gitattributes": "* filter=x diff=x merge=x\n" } });
    withoutFilter(world);
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "clone");
    expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
    plantPrograms(world, join(owned.path, ".git"));
    await useAll(world, worktrees, owned);
    expect(world.sprung()).toBe(false);
  });

  test("a planted submodule is not entered", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    const sub = join(owned.path, "sub");
    world.write(owned.path, "sub/inner.txt", "i\n");
    world.git(sub, "init", "--quiet");
    world.git(sub, "add", "-A");
    world.git(sub, "commit", "--quiet", "-m", "inner");
    world.git(owned.path, "add", "sub");
    plantPrograms(world, join(sub, ".git"));
    world.write(owned.path, "sub/inner.txt", "changed inside\n");
    const snapshot = await worktrees.snapshot(owned);
    expect(world.git(world.root, "ls-tree", snapshot?.commit ?? "", "sub")).toContain("160000 commit");
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: true });
    const { trash } = await worktrees.remove(owned, { deleteBranch: null });
    expect(world.read(trash ?? "", "sub/inner.txt")).toBe("changed inside\n");
    expect(world.sprung()).toBe(false);
  });

  test("planted grafts and replacements make no work look landed", async () => {
    using scene = await seated();
    const { world, worktrees } = scene;
    const commit = scene.commit("precious.txt", "work\n");
    const target = world.git(world.root, "rev-parse", "main").trim();
    world.write(world.root, ".git/info/grafts", `${target} ${commit}\n${commit}\n`);
    expect(world.git(world.root, "rev-list", "main")).toContain(commit);
    const questions = [{ commit, base: target }];
    expect(await worktrees.areLanded(questions, ["refs/heads/main"])).toEqual([false]);
    expect(await worktrees.isLanded({ commit, base: target }, "refs/heads/main")).toBe(false);
    rmSync(join(world.root, ".git/info/grafts"));
    world.git(world.root, "replace", target, commit);
    expect(await worktrees.areLanded(questions, ["refs/heads/main"])).toEqual([false]);
    expect(await worktrees.isLanded({ commit, base: target }, "refs/heads/main")).toBe(false);
  });

  test("a pipe in the place of a tracked file is left out of a snapshot, which keeps the rest", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    scene.commit("precious.txt", "work\n");
    world.write(owned.path, "new.txt", "new\n");
    rmSync(join(owned.path, "precious.txt"));
    Bun.spawnSync(["mkfifo", join(owned.path, "precious.txt")]);
    expect(await worktrees.inspect(owned)).toMatchObject({ ahead: 1, dirty: true });
    const snapshot = await worktrees.snapshot(owned);
    expect(snapshot?.skipped).toEqual(["precious.txt"]);
    const show = (path: string): string => world.git(world.root, "show", `${snapshot?.commit}:${path}`);
    expect([show("precious.txt"), show("new.txt")]).toEqual(["work", "new"]);
  });

  test("one of our refs that stands for a branch of the user's is deleted or set without touching that branch", async () => {
    using scene = await seated();
    const { world, worktrees } = scene;
    const tip = world.git(world.root, "rev-parse", "main").trim();
    const refs = () => world.git(world.root, "for-each-ref", "--format=%(refname)").trim().split("\n");
    for (const victim of ["main", "feature"]) {
      world.git(world.root, "branch", "--force", "feature", "main~0");
      const stands = (ref: string) => world.git(world.root, "symbolic-ref", ref, `refs/heads/${victim}`);
      stands("refs/heads/overstory/bob/T1");
      expect(await worktrees.deleteBranch("overstory/bob/T1", tip)).toBeNull();
      stands("refs/heads/overstory/bob/T2");
      expect(await worktrees.deleteBranches([{ branch: "overstory/bob/T2", tip }])).toEqual([null]);
      stands("refs/overstory/rescue/bob-1");
      expect(await worktrees.deleteRefs([{ ref: "refs/overstory/rescue/bob-1", commit: tip }])).toBe(1);
      expect(refs()).toContain(`refs/heads/${victim}`);
      expect(refs().filter((ref) => ref.includes("bob"))).toEqual([]);
    }
  });

  test("a forged commit graph makes no work look landed", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    const base = world.git(world.root, "rev-parse", "main").trim();
    for (const [dir, name] of [
      [owned.path, "precious.txt"],
      [world.root, "other.txt"],
    ] as const) {
      world.write(dir, name, "work\n");
      world.git(dir, "add", "-A");
      world.git(dir, "commit", "--quiet", "-m", name);
    }
    const commit = world.git(owned.path, "rev-parse", "HEAD").trim();
    const target = world.git(world.root, "rev-parse", "main").trim();
    forgeCommitGraph(world, [
      { commit: base, parents: [], generation: 1 },
      { commit, parents: [base], generation: 2 },
      { commit: target, parents: [base, commit], generation: 3 },
    ]);
    expect(world.git(world.root, "rev-list", commit, "^main").trim()).toBe("");
    expect(await worktrees.areLanded([{ commit, base }], ["refs/heads/main"])).toEqual([false]);
    expect(await worktrees.isLanded({ commit, base: base }, "refs/heads/main")).toBe(false);
  });

  test("the trap does spring for a git that is not careful", () => {
    using world = gitWorld({ files: { "a.x": "a\n", ".gitattributes": "* filter=x\n" } });
    plantPrograms(world, join(world.root, ".git"));
    world.write(world.root, "b.x", "b\n");
    expect(() => world.git(world.root, "add", "-A")).toThrow("filter 'x' failed");
    expect(world.sprung()).toBe(true);
  });

  test("a clone whose git directory is a link shows us nothing of what it points to", async () => {
    using world = gitWorld();
    using other = gitWorld({ files: { "secret.txt": "s\n" } });
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "clone");
    await worktrees.create(requestFor(owned));
    Bun.spawnSync({ cmd: ["sh", "-c", `rm -rf .git && ln -s '${other.root}/.git' .git`], cwd: owned.path });
    await worktrees.collect(owned);
    await worktrees.snapshot(owned);
    expect(() => world.git(world.root, "cat-file", "-e", other.git(other.root, "rev-parse", "HEAD"))).toThrow();
  });
});

/** The operator confirmed that there is no filter of that name. */
const withoutFilter = ({ root }: GitWorld): void =>
  writeTrust(statePath(root, trustName), { filters: { x: null }, hooks: {} });

type Everything = ReturnType<typeof gitWorktrees>;

async function useAll(world: GitWorld, worktrees: Everything, owned: ReturnType<GitWorld["worktree"]>): Promise<void> {
  // As old as the index, so that git must read it to know whether it changed.
  world.write(owned.path, "a.x", "b\n");
  world.write(owned.path, "new.x", "n\n");
  world.write(owned.path, "noise.ignored", "i\n");
  expect(await worktrees.inspect(owned)).toMatchObject({ dirty: true });
  const snapshot = await worktrees.snapshot(owned);
  expect(snapshot?.commit).toBeString();
  await worktrees.collect(owned);
  expect(await worktrees.isLanded({ commit: snapshot?.commit ?? "", base: owned.baseCommit }, "main")).toBe(false);
  expect(await worktrees.rescue(owned)).toMatchObject({ ref: "refs/overstory/rescue/ann-1" });
  expect(await worktrees.list()).toBeArray();
  // Somebody else who cleans up may be faster.
  const refs = ["refs/overstory/rescue/gone", "refs/overstory/rescue/ann-1"];
  expect(await worktrees.bundle(join(world.root, ".overstory", "b.bundle"), refs)).toBe(true);
  expect(await worktrees.bundle(join(world.root, ".overstory", "c.bundle"), refs.slice(0, 1))).toBe(false);
  expect(await worktrees.remove(owned, { deleteBranch: owned.baseCommit })).toMatchObject({
    removed: true,
    problem: null,
  });
  expect(await worktrees.unbundle(join(world.root, ".overstory", "b.bundle"))).toEqual([]);
  const scratch = statePath(world.root, "run", "git");
  expect(readdirSync(scratch)).toEqual([]);
}

interface GraphEntry {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly generation: number;
}

/** Git takes the parents of a commit from this file without reading the commit. */
function forgeCommitGraph(world: GitWorld, entries: readonly GraphEntry[]): void {
  const sorted = entries.toSorted((a, b) => (a.commit < b.commit ? -1 : 1));
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const upTo = (first: number): number =>
    sorted.filter(({ commit }) => Number.parseInt(commit.slice(0, 2), 16) <= first).length;
  const fanOut = Buffer.concat(Array.from({ length: 256 }, (_, first) => number(upTo(first))));
  const ids = Buffer.concat(sorted.map(({ commit }) => Buffer.from(commit, "hex")));
  const noParent = 0x70000000;
  const place = (parent: string | undefined): Buffer =>
    number(parent === undefined ? noParent : sorted.findIndex(({ commit }) => commit === parent));
  const data = sorted.map(({ commit, parents, generation }) => {
    const [tree = "", time = ""] = world.git(world.root, "show", "-s", "--format=%T %ct", commit).trim().split(" ");
    const [first, second] = parents;
    const rest = [place(first), place(second), number(generation * 4), number(Number(time))];
    return Buffer.concat([Buffer.from(tree, "hex"), ...rest]);
  });
  const chunks = [["OIDF", fanOut] as const, ["OIDL", ids] as const, ["CDAT", Buffer.concat(data)] as const];
  let offset = 8 + 12 * (chunks.length + 1);
  const table = [...chunks, ["\0\0\0\0", Buffer.alloc(0)] as const].map(([name, { length }]) => {
    const line = Buffer.concat([Buffer.from(name), number(0), number(offset)]);
    offset += length;
    return line;
  });
  const head = Buffer.concat([Buffer.from("CGPH"), Buffer.from([1, 1, chunks.length, 0])]);
  const graph = Buffer.concat([head, ...table, ...chunks.map(([, chunk]) => chunk)]);
  const sum = new Bun.CryptoHasher("sha1").update(graph).digest();
  writeFileSync(join(world.root, ".git", "objects", "info", "commit-graph"), Buffer.concat([graph, sum]));
}
