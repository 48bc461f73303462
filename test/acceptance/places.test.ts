import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** A repository with a branch that is older than the set-up. */
async function setUp(): Promise<TestProject> {
  const project = await makeProject({ bare: true });
  await project.git("branch", "feature");
  await project.json("init");
  return project;
}

const gatesIn = async (project: TestProject): Promise<unknown> =>
  (await project.json("config", "get", "project.qualityGates")).value;

describe("settings on a branch that is older than the project", () => {
  test("are the last ones that were written, though no command has read them since", async () => {
    await using project = await setUp();
    await project.json("config", "set", "project.qualityGates", '[{"name":"t","command":"false"}]');
    await project.git("commit", "--quiet", "-am", "gates");
    await project.git("checkout", "--quiet", "feature");
    expect(JSON.stringify(await gatesIn(project))).toContain("false");
  });

  test("are those of `ov init`, when nothing was typed after it", async () => {
    await using project = await setUp();
    await project.git("checkout", "--quiet", "feature");
    expect(await project.json("status")).toMatchObject({ notices: [expect.stringContaining("its last known copy")] });
  });

  test("are missed by name when no copy of them is known, and nothing runs without them", async () => {
    await using project = await setUp();
    await project.git("checkout", "--quiet", "feature");
    rmSync(statePath(project.root, "config"), { recursive: true });
    for (const args of [["status"], ["sling", "do it"], ["merge", "--all"]]) {
      const answer = await project.ov(...args, "--json");
      expect(answer.code).toBe(3);
      expect(JSON.parse(answer.out)).toMatchObject({
        code: "CONFIG_ERROR",
        error: expect.stringContaining("no copy of it is known"),
      });
    }
    expect(await project.json("init")).toMatchObject({ success: true });
    expect((await project.ov("status")).code).toBe(0);
  });
});

describe("a repository inside a project", () => {
  async function nested(): Promise<{ project: TestProject; inner: string }> {
    const project = await setUp();
    const inner = join(project.root, "vendor", "inner");
    mkdirSync(join(inner, "deep"), { recursive: true });
    await project.git("-C", inner, "init", "--quiet");
    await project.git("-C", inner, "commit", "--quiet", "--allow-empty", "-m", "first");
    return { project, inner };
  }

  test("is not taken for the project: both are named", async () => {
    const { project, inner } = await nested();
    await using _ = project;
    for (const args of [["status"], ["task", "create", "x"]]) {
      const answer = await project.ovWith({ cwd: join(inner, "deep") }, ...args, "--json");
      expect(answer.code).toBe(3);
      const { error, hint } = JSON.parse(answer.out);
      expect(error).toContain(`${inner} is a git repository of its own inside the project ${project.root}`);
      expect(hint).toContain(`--project ${project.root}`);
    }
    expect((await project.ovWith({ cwd: inner }, "status", "--project", project.root)).code).toBe(0);
    expect((await project.ovWith({ cwd: join(project.root, "vendor") }, "status")).code).toBe(0);
  });

  test("becomes a project of its own with `ov init`, and the outer one stays as it is", async () => {
    const { project, inner } = await nested();
    await using _ = project;
    const before = await Bun.file(statePath(project.root, "project.json")).text();
    const answer = await project.ovWith({ cwd: inner }, "init", "--json");
    expect(JSON.parse(answer.out)).toMatchObject({ success: true, root: inner });
    expect(await Bun.file(statePath(project.root, "project.json")).text()).toBe(before);
    expect(existsSync(join(inner, ".git", "ov-state", "overstory.db"))).toBe(true);
    await project.ovWith({ cwd: inner }, "task", "create", "inner task");
    expect((await project.json("task", "list")).tasks).toEqual([]);
  });
});

test("a command whose answer cannot be written says that it was carried out, with an exit code of its own", async () => {
  await using project = await setUp();
  for (const flags of ["", " --json"]) {
    const child = Bun.spawn({
      cmd: ["/bin/sh", "-c", `exec "$0" task create x${flags} >/dev/full`, ovBinary()],
      cwd: project.root,
      env: { ...project.env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const err = await new Response(child.stderr).text();
    expect(await child.exited).toBe(10);
    expect(err).toContain("was carried out, but its answer could not be written");
    expect(err).not.toContain("nothing was changed");
  }
  expect((await project.json("task", "list")).tasks).toHaveLength(2);
});

describe("a state directory that is gone", () => {
  const traces: Readonly<Record<string, (project: TestProject) => Promise<unknown>>> = {
    "a worktree": async ({ root }) => {
      mkdirSync(join(root, ".overstory", "worktrees", "b1"), { recursive: true });
      writeFileSync(join(root, ".overstory", "worktrees", "b1", "work.txt"), "work\n");
    },
    "a branch of an agent": (project) => project.git("branch", "overstory/b1/a-b"),
    "a packed branch of an agent": async (project) => {
      await project.git("branch", "overstory/b1/a-b");
      await project.git("pack-refs", "--all");
    },
    "a snapshot": (project) => project.git("update-ref", "refs/overstory/snap/b1/1/1", "HEAD"),
  };
  test.each(Object.entries(traces))("is missed where %s is left", async (_, leave) => {
    await using project = await setUp();
    await leave(project);
    rmSync(statePath(project.root), { recursive: true });
    for (const args of [["status"], ["task", "create", "x"], ["init"]]) {
      const answer = await project.ov(...args, "--json");
      expect(answer.code).toBe(3);
      expect(JSON.parse(answer.out)).toMatchObject({
        code: "STORE_ERROR",
        hint: expect.stringContaining("ov init --new-database"),
      });
    }
    expect(existsSync(statePath(project.root, "overstory.db"))).toBe(false);
    await project.json("init", "--new-database");
    expect((await project.ov("status")).code).toBe(0);
  });

  test("is made by the first command that writes, not by one that reads, where there never was one", async () => {
    await using project = await setUp();
    // As in a clone, which brings the configuration alone.
    rmSync(statePath(project.root), { recursive: true });
    rmSync(join(project.root, ".git", "info", "exclude"));
    expect((await project.ov("status")).code).toBe(0);
    expect((await project.ov("mail", "list")).code).toBe(0);
    expect(existsSync(statePath(project.root, "overstory.db"))).toBe(false);
    await project.json("task", "create", "x");
    expect((await project.json("task", "list")).tasks).toHaveLength(1);
  });
});

test("an export makes no directory that was typed, and the one of the project where it is missing", async () => {
  await using project = await makeProject();
  const missing = join(project.root, "..", "nope");
  const refused = await project.ov("task", "export", join(missing, "x"));
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("in a directory that does not exist") });
  expect(existsSync(missing)).toBe(false);
  await project.json("task", "export");
  expect(existsSync(join(project.root, ".seeds", "issues.jsonl"))).toBe(true);
});
