import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeProject, type TestProject } from "../testkit/project.ts";
import { commit, put, seat } from "../testkit/worktrees-world.ts";

const branch = "overstory/ann/t-1";
const files = {
  "a.txt": "a\n",
  "b.txt": "b\n",
  "crlf.txt": "one\n",
  ".gitattributes": "crlf.txt text eol=crlf\n",
  ".gitignore": ".overstory/\n*.log\n",
};

const eventsOf = (project: TestProject, type: string) =>
  project.read(async (tx) => (await tx.events.after(0, 10_000)).filter((event) => event.type === type));

describe("ov merge of an agent with uncommitted files", () => {
  test("says what is uncommitted and refuses, until it is told what to do", async () => {
    await using project = await makeProject({ files });
    const path = await seat(project, "ann");
    await commit(project, path, "c.txt", "c\n");
    put(path, "draft.txt", "d\n");
    put(path, "a.txt", "changed\n");
    const before = await project.git("for-each-ref");
    for (const words of [
      ["merge", "--branch", branch],
      ["merge", "--branch", branch, "--json"],
    ]) {
      const refused = await project.ov(...words);
      expect(refused.code).not.toBe(0);
      expect(refused.out + refused.err).toContain("2 uncommitted files");
      expect(refused.out + refused.err).toContain("a.txt, draft.txt");
      expect(refused.out + refused.err).toContain("--commit-rest");
      expect(refused.out + refused.err).toContain("--leave-rest");
    }
    expect(await project.git("for-each-ref")).toBe(before);
    expect(existsSync(path)).toBe(true);
    expect((await project.ov("merge", "--branch", branch, "--commit-rest", "--leave-rest")).code).toBe(2);
  });

  test("--commit-rest commits them in the user's name and lands them", async () => {
    await using project = await makeProject({ files, gates: ["test -f draft.txt"] });
    const path = await seat(project, "ann");
    await commit(project, path, "c.txt", "c\n");
    put(path, "draft.txt", "d\n");
    put(path, "a.txt", "changed\n");
    put(path, "noise.log", "ignored\n");
    const hook = join(project.root, ".git", "hooks", "pre-commit");
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const merged = await project.ov("merge", "--branch", branch, "--commit-rest");
    const told = expect.stringContaining(`these git hooks were not run: ${hook}`);
    expect(merged).toMatchObject({ code: 0, err: told });
    const tip = (await project.git("rev-parse", branch)).trim();
    expect((await project.git("log", "-1", "--format=%an %s", tip)).trim()).toBe(
      "Test Commit what ann left uncommitted",
    );
    expect(await project.git("show", `${tip}:draft.txt`)).toBe("d\n");
    expect(await project.git("show", `${tip}:a.txt`)).toBe("changed\n");
    expect(await project.git("ls-tree", "--name-only", tip)).not.toContain("noise.log");
    expect(await project.git("merge-base", "--is-ancestor", tip, await landingOf(project))).toBe("");
  });

  test("--leave-rest lands without them; a snapshot keeps them, and ov recover brings every file back", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann");
    put(path, "dir/draft.txt", "d\n");
    put(path, "a.txt", "changed\n");
    await project.git("-C", path, "rm", "--quiet", "b.txt");
    put(path, "noise.log", "ignored\n");
    put(path, "crlf.txt", "one\r\ntwo\r\n");
    expect(await project.json("merge", "--branch", branch, "--leave-rest")).toMatchObject({ success: true });
    await project.until("it was cleaned", async () => (await project.agent("ann")).cleanedAt !== null);
    expect(existsSync(path)).toBe(false);

    const { snapshots } = await project.json("snapshots", "list", "--agent", "ann");
    expect(snapshots).toMatchObject([{ name: "snap/ann/1/1", agentName: "ann", skipped: [] }]);
    expect(await project.json("snapshots", "show", "ann")).toMatchObject({
      uncommitted: [
        { path: "a.txt", status: "M" },
        { path: "b.txt", status: "D" },
        { path: "crlf.txt", status: "M" },
        { path: "dir/draft.txt", status: "A" },
      ],
    });

    await project.json("recover", "ann");
    await project.until("it is seated", async () => (await project.agent("ann")).worktreePath !== null);
    expect((await eventsOf(project, "work_restored"))[0]?.data).toContain("refs/overstory/snap/ann/1/1");
    expect(readFileSync(join(path, "dir/draft.txt"), "utf8")).toBe("d\n");
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("changed\n");
    expect(readFileSync(join(path, "crlf.txt"), "utf8")).toBe("one\r\ntwo\r\n");
    expect(existsSync(join(path, "b.txt"))).toBe(false);
    expect(readFileSync(join(path, "noise.log"), "utf8")).toBe("ignored\n");
    await project.ov("stop", "ann", "--force");
  });

  test("a branch without commits of its own does not land, and its task stays open", async () => {
    await using project = await makeProject({ files });
    const ended = { state: "zombie", outcome: "crashed", taskId: "t-1" } as const;
    await project.json("task", "create", "Work of Ann", "--id", "t-1");
    const path = await seat(project, "ann", ended);
    const before = await project.git("for-each-ref");
    for (const words of [[], ["--leave-rest"], ["--dry-run"]]) {
      const refused = await project.ov("merge", "--branch", branch, ...words);
      expect(refused.code).toBe(2);
      expect(refused.err).toContain("has no commits of its own");
      put(path, "draft.txt", "d\n");
      if (words.length === 0) continue;
      expect((await project.json("task", "show", "t-1")).task).toMatchObject({ status: "open" });
    }
    expect(await project.git("for-each-ref")).toBe(before);
    expect(await project.read((tx) => tx.merges.list({}))).toEqual([]);
    expect(await project.json("merge", "--branch", branch, "--commit-rest")).toMatchObject({ success: true });
    expect((await project.json("task", "show", "t-1")).task).toMatchObject({ status: "closed" });
  });

  test("what was announced for a branch without commits of its own fails, and its task stays open", async () => {
    await using project = await makeProject({ files });
    await project.json("task", "create", "Work of Ann", "--id", "t-1");
    await seat(project, "ann", { state: "zombie", outcome: "crashed", taskId: "t-1" });
    const announced = ["--type", "merge_ready", "--subject", "Ready", "--body", "ready"];
    await project.json("mail", "send", "--to", "operator", ...announced, "--payload", JSON.stringify({ branch }));
    await project.until(
      "it had failed",
      async () => (await project.read((tx) => tx.merges.get(1)))?.status === "failed",
    );
    expect((await project.read((tx) => tx.merges.get(1)))?.causeDetail?.message).toContain("no commits of its own");
    expect((await project.json("task", "show", "t-1")).task).toMatchObject({ status: "open" });
  });

  test("merge --all refuses for the same reason", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann");
    await commit(project, path, "c.txt", "c\n");
    await project.json("merge", "add", branch);
    put(path, "draft.txt", "d\n");
    expect((await project.ov("merge", "--all")).err).toContain("1 uncommitted file");
    expect(await project.json("merge", "--all", "--commit-rest")).toMatchObject({ success: true, successCount: 1 });
    expect(await project.git("show", `${(await landingOf(project)).trim()}:draft.txt`)).toBe("d\n");
  });
});

test("ov diff of an agent whose worktree is gone says that only commits are left", async () => {
  await using project = await makeProject({ files });
  const path = await seat(project, "ann");
  put(path, "draft.txt", "d\n");
  rmSync(path, { recursive: true });
  const shown = await project.ov("diff", "ann");
  expect([shown.code, shown.out + shown.err]).toEqual([0, expect.stringContaining("has committed nothing since")]);
  expect(shown.out + shown.err).toContain("ov snapshots list --agent ann");
  expect(await project.json("diff", "ann")).toMatchObject({ worktreeGone: true });
});

async function landingOf(project: TestProject): Promise<string> {
  const run = await project.read((tx) => tx.runs.get("run-1"));
  return (await project.git("rev-parse", run?.landingBranch ?? "main")).trim();
}

describe("ov snapshots", () => {
  test("lists nothing in a fresh project, and makes no database", async () => {
    await using project = await makeProject();
    expect(await project.json("snapshots", "list")).toMatchObject({ snapshots: [], count: 0 });
    expect((await project.ov("snapshots", "list")).out).toContain("Nothing is kept.");
    expect((await project.ov("snapshots", "show", "nobody")).code).toBe(7);
  });

  test("rescued work is shown, and restored to a directory or a branch that is not there yet", async () => {
    await using project = await makeProject({ files });
    const path = await seat(project, "ann");
    await commit(project, path, "c.txt", "c\n");
    put(path, "draft.txt", "d\n");
    await project.json("worktree", "clean", "--force");
    const { snapshots } = await project.json("snapshots", "list");
    expect(snapshots).toMatchObject([{ name: "rescue/ann-1", agentName: "ann", reason: "worktree cleaned" }]);
    const shown = await project.ov("snapshots", "show", "rescue/ann-1");
    expect(shown.out).toContain("A c.txt");
    expect(shown.out).toContain("A draft.txt (uncommitted)");
    const to = join(project.root, "..", "back");
    const restored = await project.json("snapshots", "restore", "ann", "--to", to, "--branch", "ann-again");
    expect(restored).toMatchObject({ dir: to, branch: "ann-again", filesWritten: 7 });
    expect(readFileSync(join(to, "draft.txt"), "utf8")).toBe("d\n");
    expect(await project.git("show", "ann-again:c.txt")).toBe("c\n");
    expect((await project.ov("snapshots", "restore", "ann", "--to", to)).code).toBe(2);
    expect((await project.ov("snapshots", "restore", "ann", "--branch", "ann-again")).code).toBe(2);
    expect((await project.ov("__complete", "snapshots", "rescue/")).out).toBe("rescue/ann-1\n");

    const before = await project.git("for-each-ref");
    const elsewhere = join(project.root, "..", "elsewhere");
    for (const branch of ["a b", "bad..name", "-x", "HEAD", "ann-again/below"]) {
      const refused = await project.ov("snapshots", "restore", "ann", `--branch=${branch}`, "--to", elsewhere);
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--branch") });
      expect(existsSync(elsewhere)).toBe(false);
    }
    for (const place of ["a.txt/x", "/proc/x"]) {
      const refused = await project.ov("snapshots", "restore", "ann", "--branch", "second", "--to", place);
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--to") });
    }
    expect(await project.git("for-each-ref")).toBe(before);
  });

  test("an agent whose branch went with a forced clean is recovered on it, with its uncommitted files", async () => {
    await using project = await makeProject({ files });
    const path = await seat(project, "ann");
    const tip = await commit(project, path, "c.txt", "c\n");
    put(path, "draft.txt", "d\n");
    await project.json("worktree", "clean", "--force");
    expect(await project.git("branch", "--list", "overstory/*")).toBe("");
    await project.json("recover", "ann");
    await project.until("it is seated", async () => (await project.agent("ann")).worktreePath !== null);
    expect((await project.git("rev-parse", branch)).trim()).toBe(tip);
    expect(readFileSync(join(path, "draft.txt"), "utf8")).toBe("d\n");
    expect(await project.git("-C", path, "status", "--porcelain")).toBe("?? draft.txt\n");
    await project.ov("stop", "ann", "--force");
  });
});
