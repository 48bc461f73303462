import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeApp } from "../../src/compose/app.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { stateOf } from "./refusal.world.ts";

/** A gate that fails on a tree with a file called `broken`. */
const gates = ["echo looking; test ! -e broken"];

/** Commits files on a branch that starts at `main`; the user stays on `main`. */
async function branch(project: TestProject, name: string, files: Readonly<Record<string, string>>): Promise<void> {
  await project.git("checkout", "--quiet", "-b", name, "main");
  for (const [path, text] of Object.entries(files)) writeFileSync(join(project.root, path), text);
  await project.git("add", "-A", "--", ...Object.keys(files));
  await project.git("commit", "--quiet", "-m", `work on ${name}`);
  await project.git("checkout", "--quiet", "main");
}

/** The command's one document and its exit code. */
async function ask(project: TestProject, ...args: string[]) {
  const answer = await project.ov(...args, "--json");
  return { exit: answer.code, ...jsonOf(answer) } as Record<string, unknown> & {
    exit: number;
    entry: Record<string, unknown>;
  };
}

/** What a person would miss if it changed. */
async function checkoutOf(project: TestProject): Promise<readonly string[]> {
  const lines = [
    "status --porcelain=v2 --branch --untracked-files=all -- :!.overstory",
    "stash list",
    "diff --cached",
    "rev-parse HEAD",
  ];
  return Promise.all(lines.map((line) => project.git(...line.split(" "))));
}

test("a branch lands where nobody has files checked out, is promoted on request, and can be taken back", async () => {
  await using project = await makeProject({ gates });
  await branch(project, "feature", { "a.txt": "a\n" });
  writeFileSync(join(project.root, "mine.txt"), "not committed\n");
  writeFileSync(join(project.root, "README.md"), "# Sample, changed by me\n");
  const before = await checkoutOf(project);

  const merged = await ask(project, "merge", "--branch", "feature");
  expect(merged).toMatchObject({ exit: 0, success: true, tier: "clean-merge", conflictFiles: [], errorMessage: null });
  expect(merged.entry).toMatchObject({ branchName: "feature", status: "merged", verdict: "verified" });
  const landing = String(merged.entry.targetBranch);
  expect(landing).toStartWith("overstory/integration/");
  expect(await project.git("show", `${landing}:a.txt`)).toBe("a\n");
  expect(await checkoutOf(project)).toEqual(before);
  expect((await project.ov("diff", landing, "--stat")).out).toBe("+1 -0 a.txt\n");
  expect(await ask(project, "diff", landing)).toMatchObject({ exit: 0, branch: landing, against: "main" });
  const nowhere = await project.ov("diff", "overstory/integration/mian");
  expect(nowhere).toMatchObject({ code: 7, err: expect.stringContaining(`did you mean "${landing}"`) });

  const again = await ask(project, "merge", "--branch", "feature");
  expect(again).toMatchObject({ exit: 0, success: true });
  expect(again.warnings).toEqual([expect.stringContaining("had everything of feature already")]);

  const { receipt, results } = await project.json("gate", "show", String(merged.entry.id));
  expect(receipt).toMatchObject({ kind: "landing", verdict: "verified" });
  expect(results).toMatchObject([{ gate: "gate-1", status: "passed", exitCode: 0, command: gates[0] }]);
  const [result] = results as { id: string }[];
  expect((await project.ov("gate", "log", result?.id ?? "")).out).toBe("looking\n");

  expect((await project.ov("merge", "undo", "feature")).code).toBe(2);
  const undone = await ask(project, "merge", "undo", "--last", "--yes");
  expect(undone).toMatchObject({ exit: 0, success: true, entries: [{ branchName: "feature" }] });
  expect((await project.git("ls-tree", "--name-only", landing)).split("\n")).not.toContain("a.txt");
  const { id } = undone.undo as { id: string };
  expect(await ask(project, "merge", "undo", id, "--yes")).toMatchObject({ exit: 0, success: true });
  expect(await project.git("show", `${landing}:a.txt`)).toBe("a\n");
  expect(await checkoutOf(project)).toEqual(before);

  expect(await ask(project, "merge", "promote")).toMatchObject({ exit: 0, moved: true, targetBranch: "main" });
  expect(readFileSync(join(project.root, "a.txt"), "utf8")).toBe("a\n");
  expect(readFileSync(join(project.root, "README.md"), "utf8")).toBe("# Sample, changed by me\n");
}, 60_000);

test("a merge says where the work is now, and for which branch it is meant", async () => {
  await using project = await makeProject({ gates });
  await branch(project, "feature", { "a.txt": "a\n" });
  const { out } = await project.ov("merge", "--branch", "feature");
  expect(out).toMatch(/1 file, into overstory\/integration\/\S+ as [0-9a-f]{10}, meant for main\n/);
  expect(out).toContain("to have it on main: ov merge promote");
});

test("promoting moves the user's branch and files, and never over what they have changed", async () => {
  await using project = await makeProject({ gates, files: { "README.md": "# Sample\n", "a.txt": "a\n" } });
  await project.json("task", "create", "A task", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1");
  await project.settled();
  await branch(project, "feature", { "a.txt": "changed\n" });
  expect((await ask(project, "merge", "--branch", "feature")).exit).toBe(0);
  writeFileSync(join(project.root, "a.txt"), "mine\n");
  const before = await checkoutOf(project);
  const refused = await ask(project, "merge", "promote");
  expect(refused).toMatchObject({ exit: 4, success: false, errorMessage: expect.stringContaining("a.txt") });
  expect(await checkoutOf(project)).toEqual(before);
  await project.git("checkout", "--quiet", "--", "a.txt");
  const lock = join(project.root, ".git", "index.lock");
  const holder = Bun.spawn(["sh", "-c", 'exec 3>"$0"; echo held; exec sleep 600', lock], { stdout: "pipe" });
  await holder.stdout.getReader().read();
  const locked = await ask(project, "merge", "promote");
  holder.kill("SIGKILL");
  await holder.exited;
  rmSync(lock);
  expect(locked).toMatchObject({ exit: 6, success: false, cause: "locked" });
  expect(await ask(project, "merge", "promote")).toMatchObject({ exit: 0, success: true, moved: true });
  expect(readFileSync(join(project.root, "a.txt"), "utf8")).toBe("changed\n");
  expect(await project.git("status", "--porcelain", "--", ":!.overstory")).toBe("");
}, 60_000);

test("a queued branch shows the files that it changes before any engine has looked at it", async () => {
  await using project = await makeProject({ files: { "a.txt": "1\n" } });
  await branch(project, "one", { "a.txt": "2\n" });
  expect((await project.ov("merge", "add", "one")).code).toBe(0);
  expect(await project.read((tx) => tx.merges.get(1))).toMatchObject({ filesModified: [], approval: "waiting" });
  expect(await ask(project, "merge", "show", "1")).toMatchObject({ exit: 0, entry: { filesModified: ["a.txt"] } });
  await branch(project, "two", { "b.txt": "2\n" });
  expect(await ask(project, "merge", "add", "two")).toMatchObject({ exit: 0, entry: { filesModified: ["b.txt"] } });
}, 60_000);

test("commits that came after a branch was queued are not left behind: approve refuses, retry takes them", async () => {
  await using project = await makeProject({ gates, env: { OVERSTORY__MERGE__MODE: "approve" } });
  await branch(project, "one", { "b.txt": "2\n" });
  expect((await ask(project, "merge", "add", "one")).exit).toBe(0);
  await project.git("checkout", "--quiet", "one");
  writeFileSync(join(project.root, "broken"), "red\n");
  await project.git("add", "broken");
  await project.git("commit", "--quiet", "-m", "more");
  await project.git("checkout", "--quiet", "main");
  for (const words of [
    ["merge", "approve", "1"],
    ["decide", "merge:1", "approve"],
  ]) {
    const refused = await ask(project, ...words);
    expect(refused).toMatchObject({ exit: 2, error: expect.stringContaining("newer commits would not land") });
    expect(refused.hint ?? "").toContain("ov merge --branch one");
  }
  // Every surface has the rule, and by every name of the question.
  const app = makeApp({ cwd: project.root, env: project.env, project: undefined });
  const [question] = await project.read((tx) => tx.messages.list({ type: "decision_gate", limit: 1 }));
  const moved = { ok: false, refusal: { kind: "invalid", field: "branch", value: "one" } };
  expect(await app.call("merge.approve", { all: true })).toMatchObject(moved);
  expect(await app.call("operator.decide", { id: "merge:1", option: "1" })).toMatchObject(moved);
  expect(await app.call("operator.decide", { id: question?.id ?? "", option: "approve" })).toMatchObject(moved);
  expect(await project.read((tx) => tx.merges.get(1))).toMatchObject({ approval: "waiting" });
  expect(await ask(project, "merge", "--branch", "one")).toMatchObject({ success: false });
  await project.git("checkout", "--quiet", "one");
  await project.git("rm", "--quiet", "broken");
  await project.git("commit", "--quiet", "-m", "mended");
  await project.git("checkout", "--quiet", "main");
  const failed = await project.read((tx) => tx.merges.list({ statuses: ["failed"] }));
  const again = await ask(project, "merge", "retry", String(failed[0]?.id));
  expect(again).toMatchObject({ exit: 0, entry: { headCommit: (await project.git("rev-parse", "one")).trim() } });
  await project.until("the mended commit landed", async () => {
    return (await project.read((tx) => tx.merges.list({ statuses: ["merged"] }))).length === 1;
  });
}, 60_000);

test("a dry run changes not one byte, names with any letters included, and leaves nothing for --all", async () => {
  await using project = await makeProject({ gates, files: { "größe.txt": "1\n" } });
  await branch(project, "one", { "größe.txt": "2\n" });
  await branch(project, "two", { "größe.txt": "3\n" });
  // Reading alone makes no database.
  await project.json("task", "create", "Anything", "--id", "T1");
  await project.git("status");
  await project.git("branch", "behind", "main");
  const before = stateOf(project.root);
  expect(await ask(project, "merge", "--branch", "one", "--dry-run")).toMatchObject({
    exit: 0,
    branchName: "one",
    id: null,
    filesModified: ["größe.txt"],
    prediction: {
      predictedTier: "clean-merge",
      conflictFiles: [],
      wouldRequireAgent: false,
      strategy: null,
      cause: null,
      gatesLikely: ["gate-1"],
    },
  });
  const contained = await ask(project, "merge", "--branch", "behind", "--dry-run");
  expect(contained.prediction).toMatchObject({ predictedTier: "clean-merge", reason: "already contained" });
  expect(stateOf(project.root)).toEqual(before);
  expect(await ask(project, "merge", "--all")).toMatchObject({ exit: 0, results: [], count: 0 });

  expect((await ask(project, "merge", "--branch", "one")).exit).toBe(0);
  const second = await ask(project, "merge", "--branch", "two", "--dry-run");
  expect(second.prediction).toMatchObject({
    predictedTier: "ai-resolve",
    conflictFiles: ["größe.txt"],
    wouldRequireAgent: true,
    cause: "conflict",
  });
  const real = await ask(project, "merge", "--branch", "two");
  expect(real).toMatchObject({ exit: 4, success: false, conflictFiles: ["größe.txt"] });
}, 60_000);

test("failures are one document each with exit code 4, and --all is not fine when one of them is not", async () => {
  await using project = await makeProject({ gates });
  await branch(project, "good", { "good.txt": "1\n" });
  await branch(project, "bad", { broken: "1\n" });
  for (const name of ["good", "bad"]) expect((await ask(project, "merge", "add", name)).exit).toBe(0);
  const all = await ask(project, "merge", "--all");
  expect(all).toMatchObject({ exit: 4, success: false, count: 2, successCount: 1, failCount: 1 });
  expect(all.results).toMatchObject([
    { success: true, entry: { branchName: "good", verdict: "verified" } },
    { success: false, entry: { branchName: "bad", status: "failed", cause: "gate_failed" } },
  ]);
  const { results } = await project.json("gate", "list");
  expect(results).toContainEqual(expect.objectContaining({ gate: "gate-1", status: "failed", exitCode: 1 }));
  expect(await project.json("status")).toMatchObject({ merges: { pending: 0, failed: [expect.any(Number)] } });
}, 60_000);

test("a branch or target that is not there is not found, and nothing is queued", async () => {
  await using project = await makeProject({ gates });
  await branch(project, "feature", { "a.txt": "a\n" });
  for (const words of [
    ["--branch", "featur"],
    ["--branch", "feature", "--into", "nowhere"],
  ]) {
    expect(await ask(project, "merge", ...words)).toMatchObject({ exit: 7, success: false, code: "MERGE_ERROR" });
  }
  expect((await project.ov("merge", "--branch", "featur")).err).toContain('did you mean "feature"?');
  expect((await project.ov("merge")).code).toBe(2);
  expect(await project.json("merge", "list", "--all")).toMatchObject({ entries: [] });
}, 60_000);

test("without a gate a branch waits for one word of the operator, and says how to give it", async () => {
  await using project = await makeProject();
  await branch(project, "feature", { "a.txt": "a\n" });
  const { entry } = await ask(project, "merge", "add", "feature");
  expect(entry).toMatchObject({ status: "pending", verdict: "unverified", awaitingApproval: true });
  const approve = `ov merge approve ${entry.id}`;
  for (const line of [["merge", "list"], ["merge", "plan"], ["status"]]) {
    expect((await project.ov(...line)).out).toContain(approve);
  }
  expect((await project.ov(...approve.split(" ").slice(1))).code).toBe(0);
  await project.until("it has landed", async () => {
    const { entry: now } = (await project.json("merge", "show", "feature")) as { entry: { status: string } };
    return now.status === "merged";
  });
  expect((await project.ov("merge", "list", "--all")).out).toContain("unverified");
}, 60_000);

test("a key press offers branches, and what is in the queue", async () => {
  await using project = await makeProject();
  await branch(project, "feature/one", { "a.txt": "a\n" });
  await project.json("merge", "add", "feature/one");
  expect((await project.ov("__complete", "branches", "--", "f")).out).toBe("feature/one\n");
  expect((await project.ov("__complete", "merges", "--", "")).out).toBe("feature/one\n1\n");
}, 60_000);

test("an undo that queues a branch again names that branch alone", async () => {
  await using project = await makeProject({ gates });
  for (const name of ["first", "second"]) {
    await branch(project, name, { [`${name}.txt`]: "x\n" });
    await ask(project, "merge", "--branch", name);
  }
  const undone = await project.ov("merge", "undo", "first", "--requeue", "--yes");
  expect(undone.code).toBe(0);
  expect(undone.out).toContain("first is in the queue again");
  expect(undone.out).not.toContain("second is in the queue again");
}, 60_000);
