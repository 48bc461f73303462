import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { commit, put, seat, typed } from "../../testkit/worktrees-world.ts";

const branch = "overstory/ann/t-1";
const files = { "a.txt": "a\n", "b.txt": "b\n", ".gitignore": ".overstory/\n*.log\n" };

async function landingOf(project: TestProject): Promise<string> {
  const run = await project.read((tx) => tx.runs.get("run-1"));
  return (await project.git("rev-parse", run?.landingBranch ?? "main")).trim();
}

describe("what an agent left beside its branch", () => {
  const refusal = (project: TestProject, ...words: string[]) => project.ov(...words, "--json");

  test("ov merge add refuses, and takes both answers", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann");
    const head = await commit(project, path, "c.txt", "c\n");
    put(path, "draft.txt", "d\n");
    const refused = await project.ov("merge", "add", branch);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("1 uncommitted file in its worktree (draft.txt)");
    expect(await project.read((tx) => tx.merges.list({}))).toEqual([]);
    expect(await project.json("merge", "add", branch, "--leave-rest")).toMatchObject({ entry: { headCommit: head } });
    expect(await project.json("merge", "add", branch, "--commit-rest")).toMatchObject({ added: true });
    const tip = (await project.git("rev-parse", branch)).trim();
    expect(await project.git("show", `${tip}:draft.txt`)).toBe("d\n");
    const open = (await project.read((tx) => tx.merges.list({}))).filter(({ status }) => status === "pending");
    expect(open.map(({ headCommit }) => headCommit)).toEqual([tip]);
  });

  test.each([
    ["the number", ["approve", "1"]],
    ["the branch", ["approve", branch]],
    ["--all", ["approve", "--all"]],
  ])("ov merge approve by %s refuses, and takes both answers", async (_, words) => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann");
    await commit(project, path, "c.txt", "c\n");
    await project.json("merge", "add", branch);
    put(path, "draft.txt", "d\n");
    const refused = await refusal(project, "merge", ...words);
    expect(refused.code).toBe(2);
    expect(refused.out).toContain("draft.txt");
    expect((await project.read((tx) => tx.merges.get(1)))?.approval).toBe("waiting");
    expect(await project.json("merge", ...words, "--commit-rest")).toMatchObject({ success: true, count: 1 });
    await project.until("it had landed", async () =>
      (await project.read((tx) => tx.merges.list({}))).some(({ status }) => status === "merged"),
    );
    expect(await project.git("show", `${await landingOf(project)}:draft.txt`)).toBe("d\n");
  });

  test("ov merge approve --all --commit-rest approves all or none", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const [ann, bob] = [await seat(project, "ann"), await seat(project, "bob")];
    for (const path of [ann, bob]) await commit(project, path, "c.txt", "c\n");
    for (const name of [branch, "overstory/bob/t-1"]) await project.json("merge", "add", name);
    put(ann, "draft.txt", "d\n");
    await commit(project, bob, "later.txt", "moved\n");
    const tip = await project.git("rev-parse", branch);
    const refused = await project.ov("merge", "approve", "--all", "--commit-rest");
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining("has moved since it was queued as merge 2"),
    ]);
    expect(await project.git("rev-parse", branch)).toBe(tip);
    const entries = await project.read((tx) => tx.merges.list({}));
    expect(entries.map(({ id, approval }) => [id, approval])).toEqual([
      [1, "waiting"],
      [2, "waiting"],
    ]);
  });

  test("ov decide refuses to approve, and --leave-rest lands without them", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann");
    await commit(project, path, "c.txt", "c\n");
    await project.json("merge", "add", branch);
    put(path, "draft.txt", "d\n");
    const refused = await refusal(project, "decide", "merge:1", "approve");
    expect(refused.code).toBe(2);
    expect(refused.out).toContain(`ov merge --branch ${branch} --commit-rest`);
    expect(await project.json("merge", "approve", "1", "--leave-rest")).toMatchObject({ count: 1 });
    await project.until("it had landed", async () =>
      (await project.read((tx) => tx.merges.list({}))).some(({ status }) => status === "merged"),
    );
    expect(await project.git("ls-tree", "--name-only", await landingOf(project))).not.toContain("draft.txt");
  });

  test("commits beside its branch are refused in the same way, with what to type", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann");
    await commit(project, path, "one.txt", "1\n");
    await project.git("-C", path, "checkout", "--quiet", "--detach");
    const second = await commit(project, path, "two.txt", "2\n");
    const lacks = `ann has 1 commit that ${branch} lacks ("change two.txt"), at ${second.slice(0, 12)}, on no branch`;
    const before = await project.git("for-each-ref");
    for (const words of [[], ["--commit-rest"], ["--commit-rest", "--dry-run"]]) {
      const refused = await project.ov("merge", "--branch", branch, ...words);
      expect(refused.err).toContain("--leave-rest");
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(lacks) });
    }
    expect(await project.json("merge", "add", branch, "--leave-rest")).toMatchObject({ added: true });
    for (const words of [
      ["merge", "approve", "1"],
      ["decide", "merge:1", "approve"],
    ]) {
      expect(await project.ov(...words)).toMatchObject({ code: 2, err: expect.stringContaining(lacks) });
    }
    expect(await project.git("for-each-ref")).toBe(before);
    const { err } = await project.ov("merge", "--branch", branch);
    const line = /put them on its branch: (.*), then (ov merge --branch \S+);/.exec(err);
    expect(typed(project, `${line?.[1]} && ${line?.[2]}`)).toMatchObject({ code: 0 });
    expect(await project.git("show", `${await landingOf(project)}:two.txt`)).toBe("2\n");
  });

  test("commits beside its branch are named when their agent is released, and a snapshot keeps them", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann", { outcome: "no_signal" });
    await commit(project, path, "one.txt", "1\n");
    await project.git("-C", path, "checkout", "--quiet", "--detach");
    const second = await commit(project, path, "two.txt", "2\n");
    const { err } = await project.ov("release", "ann");
    expect(err).toContain(`No branch holds the commit ${second.slice(0, 12)}.`);
    expect(err).toContain("ov snapshots show ann");
    await project.until("it was cleaned", async () => (await project.agent("ann")).cleanedAt !== null);
    expect(typed(project, "ov snapshots restore ann --branch again").code).toBe(0);
    expect((await project.git("rev-parse", "again")).trim()).toBe(second);
  });

  test("what only a snapshot holds after a release is named and refused, and the printed lines land it", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    await project.json("task", "create", "Work of Ann", "--id", "t-1");
    const path = await seat(project, "ann", { state: "zombie", outcome: "crashed", taskId: "t-1" });
    await commit(project, path, "one.txt", "1\n");
    await project.git("-C", path, "checkout", "--quiet", "--detach");
    await commit(project, path, "two.txt", "2\n");
    put(path, "draft.txt", "d\n");
    await project.ov("release", "ann");
    await project.until("it was cleaned", async () => (await project.agent("ann")).cleanedAt !== null);
    const before = await project.git("for-each-ref");
    const lacks = `the snapshot snap/ann/1/1 of ann has 1 commit ("change two.txt") and 1 uncommitted file (draft.txt) that ${branch} lacks`;
    for (const words of [
      ["merge", "--branch", branch],
      ["merge", "--branch", branch, "--commit-rest"],
      ["merge", "add", branch],
    ]) {
      const refused = await project.ov(...words);
      expect(refused.err).toContain(`ov merge --branch ${branch} --leave-rest`);
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(lacks) });
    }
    expect(await project.git("for-each-ref")).toBe(before);
    const { err } = await project.ov("merge", "--branch", branch);
    const line = /put it on its branch: (.*), then (ov merge --branch \S+);/.exec(err);
    expect(typed(project, `${line?.[1]} && ${line?.[2]}`)).toMatchObject({ code: 0 });
    for (const [name, text] of [
      ["one.txt", "1\n"],
      ["two.txt", "2\n"],
      ["draft.txt", "d\n"],
    ]) {
      expect(await project.git("show", `${await landingOf(project)}:${name}`)).toBe(text ?? "");
    }
    expect((await project.json("task", "show", "t-1")).task).toMatchObject({ status: "closed" });
  });

  test("commits beside the branch of a released agent have a line of their own", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann", { outcome: "no_signal" });
    await commit(project, path, "one.txt", "1\n");
    await project.git("-C", path, "checkout", "--quiet", "--detach");
    await commit(project, path, "two.txt", "2\n");
    await project.git("-C", path, "checkout", "--quiet", branch);
    await project.ov("release", "ann");
    await project.until("it was cleaned", async () => (await project.agent("ann")).cleanedAt !== null);
    const { code, err } = await project.ov("merge", "--branch", branch);
    expect([code, err]).toEqual([2, expect.stringContaining('has 1 commit ("change two.txt") that')]);
    const line = /land it as a branch of its own: (.*?);/.exec(err);
    expect(typed(project, line?.[1] ?? "")).toMatchObject({ code: 0 });
    expect(await project.git("show", `${await landingOf(project)}:two.txt`)).toBe("2\n");
  });

  test("a released agent whose work is all on its branch lands, also after an amend by a person", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann", { outcome: "no_signal" });
    await commit(project, path, "one.txt", "1\n");
    await project.ov("release", "ann");
    await project.until("it was cleaned", async () => (await project.agent("ann")).cleanedAt !== null);
    const other = join(project.root, "..", "other");
    await project.git("worktree", "add", "--quiet", other, branch);
    await project.git("-C", other, "commit", "--quiet", "--amend", "-m", "in other words");
    put(other, "one.txt", "better\n");
    await project.git("-C", other, "commit", "--quiet", "--all", "--amend", "-m", "better");
    expect(await project.json("merge", "--branch", branch)).toMatchObject({ success: true });
    expect(await project.git("show", `${await landingOf(project)}:one.txt`)).toBe("better\n");
  });

  test.each([
    ["merge", "merge other"],
    ["cherry-pick", "cherry-pick other"],
    ["revert", "revert --no-edit HEAD~1"],
    ["rebase", "rebase other"],
  ] as const)("a %s that was left half-way is named with the commands that end it", async (sort, command) => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann");
    await project.git("branch", "other", "main");
    await commit(project, path, "a.txt", "one\n");
    await commit(project, path, "a.txt", "mine\n");
    const other = join(project.root, "..", "other");
    await project.git("worktree", "add", "--quiet", other, "other");
    await commit(project, other, "a.txt", "theirs\n");
    expect(typed(project, `git -C ${path} ${command}`).code).not.toBe(0);
    const ways = `git -C ${path} ${sort} --continue or git -C ${path} ${sort} --abort`;
    const refused = await project.ov("merge", "--branch", branch, "--commit-rest");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(ways)]);
    const { err } = await project.ov("merge", "--branch", branch);
    expect(err).toContain(`first end the ${sort} that was left half-way: ${ways}, then ov merge --branch ${branch}`);
    expect(typed(project, `git -C ${path} ${sort} --abort && ov merge --branch ${branch}`)).toMatchObject({ code: 0 });
    expect(await project.git("show", `${await landingOf(project)}:a.txt`)).toBe("mine\n");
  });

  test("--commit-rest says what to type where it cannot commit", async () => {
    await using project = await makeProject({ files, gates: ["true"] });
    const path = await seat(project, "ann");
    await commit(project, path, "c.txt", "c\n");
    put(path, "draft.txt", "d\n");
    await project.git("-C", path, "checkout", "--quiet", "--detach");
    const refused = await project.ov("merge", "--branch", branch, "--commit-rest");
    expect(refused.err).toContain(`git -C ${path} switch ${branch}`);
    expect(refused.err).toContain("--leave-rest");
  });
});
