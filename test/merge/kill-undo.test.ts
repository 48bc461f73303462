import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { killPoints } from "../../src/ports/kill-points.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const landing = "overstory/integration/main";

/** The instants of an operation on a landing branch: around the intent, the one move, and the fact. */
const points = ["merge.before-land", "merge.after-land", "merge.after-fact"] as const;

/** Two branches landed, by a landing each, and no engine about. */
async function landed(): Promise<TestProject> {
  const project = await makeProject({ gates: ["test ! -e broken.txt"] });
  for (const name of ["a", "b"]) {
    await project.git("checkout", "--quiet", "-b", name, "main");
    writeFileSync(join(project.root, `${name}.txt`), `${name}\n`);
    await project.git("add", "--", `${name}.txt`);
    await project.git("commit", "--quiet", "-m", name);
    await project.git("checkout", "--quiet", "main");
    await project.json("merge", "--branch", name, "--into", "main");
  }
  writeFileSync(join(project.root, "mine.txt"), "staged\n");
  await project.git("add", "mine.txt");
  writeFileSync(join(project.root, "b.bak"), "untracked\n");
  await project.json("engine", "stop");
  return project;
}

const userSees = async (project: TestProject): Promise<string> =>
  [
    await project.git("status", "--porcelain=v2", "--branch"),
    await project.git("stash", "list"),
    await project.git("diff", "--cached"),
    readFileSync(join(project.root, "b.bak"), "utf8"),
  ].join("\n---\n");

const filesOf = async (project: TestProject, branch: string): Promise<readonly string[]> =>
  (await project.git("ls-tree", "--name-only", branch)).split("\n").filter((name) => /^[ab]\.txt$/.test(name));

/** Asks for something with an engine that dies at the point, once, and waits until another one has finished it. */
async function diesAt(project: TestProject, point: string, ...args: string[]): Promise<void> {
  const marker = join(project.state, "killed");
  const env = { OVERSTORY_TEST_KILL_AT: point, OVERSTORY_TEST_KILL_ONCE: marker };
  await project.ovWith({ env }, "merge", ...args, "--json");
  await project.until(`${point} was reached`, async () => existsSync(marker));
  await project.until("nothing was open", async () => !(await project.read((tx) => tx.mergeOps.list({}))).some(isOpen));
}

const isOpen = ({ status }: { readonly status: string }): boolean => status === "intended";

async function opsOf(project: TestProject, kind: "undo" | "promote") {
  return (await project.read((tx) => tx.mergeOps.list({ kind }))).map(({ status, problem }) => [status, problem]);
}

async function expectWhole(project: TestProject): Promise<void> {
  expect(await project.git("fsck", "--no-dangling", "--no-progress")).toBe("");
  const worktrees = (await project.git("worktree", "list", "--porcelain")).match(/^worktree .*/gm) ?? [];
  expect(worktrees.filter((line) => !line.includes("/.overstory/merge-worktrees/"))).toHaveLength(1);
}

for (const point of points) {
  test(`an engine that dies at ${point} of an undo is followed by one that has taken it back exactly once`, async () => {
    await using project = await landed();
    const before = await userSees(project);
    await diesAt(project, point, "undo", "b", "--yes");
    expect(await opsOf(project, "undo")).toEqual([["done", null]]);
    expect(await filesOf(project, landing)).toEqual(["a.txt"]);
    await project.json("engine", "stop");
    // Not the newest any more: this one is taken out on top.
    await project.json("merge", "--branch", "b", "--into", "main");
    await project.json("engine", "stop");
    await Bun.file(join(project.state, "killed")).delete();
    await diesAt(project, point, "undo", "a", "--yes");
    expect(await filesOf(project, landing)).toEqual(["b.txt"]);
    const entries = await project.read((tx) => tx.merges.list({ branch: "a" }));
    expect(entries.map(({ status }) => status)).toEqual(["reverted"]);
    const told = await project.read((tx) => tx.messages.list({ to: "operator" }));
    expect(told.filter(({ subject }) => subject === "merge undone: a")).toHaveLength(1);
    expect(await userSees(project)).toBe(before);
    await expectWhole(project);
  }, 180_000);
}

const moves = killPoints.filter((point) => point.startsWith("promote.") && !point.endsWith("-back"));
for (const point of [...points, ...moves]) {
  test(`an engine that dies at ${point} of a promotion is followed by one that has moved the branch and its files`, async () => {
    await using project = await landed();
    await diesAt(project, point, "promote");
    expect(await opsOf(project, "promote")).toEqual([["done", null]]);
    expect(await project.git("rev-parse", "main")).toBe(await project.git("rev-parse", landing));
    expect(await project.git("status", "--porcelain", "--", "*.txt", "*.bak")).toBe("A  mine.txt\n?? b.bak\n");
    const [op] = await project.read((tx) => tx.mergeOps.list({ kind: "promote" }));
    expect(op?.beforeCommit).toBe((await project.git("rev-parse", "a~1")).trim());
    await expectWhole(project);
  }, 180_000);
}
