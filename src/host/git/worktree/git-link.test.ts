import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../../../testkit/project.ts";
import { statePath } from "../../../../testkit/state.ts";
import { bootId, identityOf } from "../../linux/process-table.ts";
import { gitProject, openRepository } from "../repository.ts";
import { gitWorktrees } from "../worktrees.ts";
import { ownLock } from "./create-linked.ts";
import { linkNew } from "./git-link.ts";

let project: TestProject;
beforeEach(async () => {
  project = await makeProject({ files: { "src/a.txt": "a\n" } });
});
afterEach(() => project[Symbol.asyncDispose]());

const place = (name = "a1"): string => join(project.root, ".overstory", "worktrees", name);
const requestFor = (name = "a1", path = place(name)) =>
  ({ agentName: name, branch: `overstory/${name}/T1`, path, kind: "linked", baseRef: "main" }) as const;
const create = (name?: string, path?: string) => gitWorktrees(project.root).create(requestFor(name, path));
const link = async (lock: string) => linkNew(gitProject(await openRepository(project.root)(), {}), requestFor(), lock);
const admins = (): string[] => readdirSync(join(project.root, ".git", "worktrees")).sort();

test("git takes the entry for one of its own", async () => {
  const linked = await link("being made");
  expect(linked?.base).toBe((await project.git("rev-parse", "main")).trim());
  const listed = await project.git("worktree", "list", "--porcelain");
  expect(listed).toContain(
    `worktree ${place()}\nHEAD ${linked?.base}\nbranch refs/heads/overstory/a1/T1\nlocked being made\n`,
  );
  expect((await project.git("-C", place(), "rev-parse", "--abbrev-ref", "HEAD")).trim()).toBe("overstory/a1/T1");
});

test("it holds the files of its base, and work in it reaches its branch", async () => {
  expect((await create()).ok).toBe(true);
  expect(await project.git("-C", place(), "status", "--porcelain")).toBe("");
  writeFileSync(join(place(), "src", "b.txt"), "b\n");
  await project.git("-C", place(), "add", ".");
  await project.git("-C", place(), "commit", "--quiet", "-m", "more");
  expect(await project.git("show", "overstory/a1/T1:src/b.txt")).toBe("b\n");
  await project.git("worktree", "remove", place());
  expect(existsSync(place())).toBe(false);
});

test("two directories of the same name get entries of their own", async () => {
  expect((await create("a1", join(project.state, "one", "same"))).ok).toBe(true);
  expect((await create("a2", join(project.state, "two", "same"))).ok).toBe(true);
  expect(admins()).toEqual(["same", "same1"]);
  expect(readFileSync(join(project.state, "two", "same", ".git"), "utf8")).toEndWith("worktrees/same1\n");
});

const notByHand: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["the branch exists", () => project.git("branch", "overstory/a1/T1", "main")],
  ["a branch has the name of its directory", () => project.git("branch", "overstory/a1", "main")],
  ["the base is only in the packed refs", () => project.git("pack-refs", "--all")],
  ["something stands in its place", async () => mkdirSync(place(), { recursive: true })],
  ["worktrees have settings of their own", () => project.git("config", "extensions.worktreeConfig", "true")],
  ["others write to the repository, too", () => project.git("config", "core.sharedRepository", "group")],
  [
    "a worktree that was deleted by hand is still listed there",
    async () => {
      await project.git("worktree", "add", "--quiet", "--detach", place(), "main");
      rmSync(place(), { recursive: true });
    },
  ],
];
for (const [why, arrange] of notByHand) {
  test(`git itself is asked where ${why}`, async () => {
    await arrange();
    const before = existsSync(join(project.root, ".git", "worktrees")) ? admins() : [];
    expect(await link("being made")).toBeUndefined();
    expect(existsSync(join(project.root, ".git", "worktrees")) ? admins() : []).toEqual(before);
  });
}

test("an entry whose maker died before its files were written is made anew", async () => {
  const dead = Bun.spawnSync(["true"]).pid;
  expect(await link(`overstory is preparing it (process ${dead})`)).toBeDefined();
  expect(await create()).toMatchObject({ ok: true, value: { path: place(), branch: "overstory/a1/T1" } });
  expect(await project.git("-C", place(), "status", "--porcelain")).toBe("");
  expect(admins()).toEqual(["a1"]);
});

const strangers: readonly (readonly [string, (pid: number) => string])[] = [
  ["after its maker's end", (pid) => `${pid} 1 ${bootId()}`],
  ["since the last boot", (pid) => `${pid} ${identityOf(pid)?.startToken} 00000000-0000-0000-0000-000000000000`],
];
for (const [when, maker] of strangers) {
  test(`a number that another process has ${when} is not taken for the maker of an entry`, async () => {
    const stranger = Bun.spawn(["sleep", "60"]);
    try {
      expect(await link(`overstory is preparing it (process ${maker(stranger.pid)})`)).toBeDefined();
      const began = performance.now();
      expect(await create()).toMatchObject({ ok: true, value: { path: place() } });
      // A maker that lives would have been waited for this long.
      expect(performance.now() - began).toBeLessThan(10_000);
      expect(await project.git("-C", place(), "status", "--porcelain")).toBe("");
    } finally {
      stranger.kill();
      await stranger.exited;
    }
  }, 60_000);
}

test("an entry whose maker is alive is waited for", async () => {
  expect(await link(ownLock())).toBeDefined();
  const making = create();
  const first = await Promise.race([making, Bun.sleep(2_000).then(() => "waiting")]);
  await project.git("worktree", "unlock", place());
  expect(first).toBe("waiting");
  expect((await making).ok).toBe(true);
}, 60_000);

test("nothing is left behind where the worktree cannot be made", async () => {
  mkdirSync(statePath(project.root, "run"), { recursive: true });
  writeFileSync(statePath(project.root, "run", "git"), "a file where a directory is needed\n");
  expect(await link("being made")).toBeUndefined();
  expect(existsSync(place())).toBe(false);
  expect(await project.git("branch", "--list", "overstory/*")).toBe("");
});
