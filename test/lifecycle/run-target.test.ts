import { expect, test } from "bun:test";
import { join } from "node:path";
import { untilAgent } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const scenario = `
- when: { capability: coordinator }
  do: [{ say: I lead. }]
- do:
    - ov: [done, --no-code, --summary, well]
`;

const tipOf = async (project: TestProject, ref: string): Promise<string> =>
  (await project.git("rev-parse", ref)).trim();

const commit = async (project: TestProject, text: string): Promise<string> => {
  await project.git("commit", "--quiet", "--allow-empty", "-m", text);
  return tipOf(project, "HEAD");
};

const targetOf = async (project: TestProject, runId: unknown): Promise<unknown> => {
  const { run } = await project.json("run", "show", String(runId));
  return Object(run).targetBranch;
};

test("a run is for the branch that was checked out when it was typed, whatever is checked out later", async () => {
  await using project = await makeProject({ scenario });
  const main = await tipOf(project, "main");
  await project.git("branch", "feature");
  const slung = await project.json("sling", "Improve main", "--name", "one");
  expect(slung).toMatchObject({ targetBranch: "main" });
  await project.git("checkout", "--quiet", "feature");
  await commit(project, "of feature");
  expect(await targetOf(project, slung.runId)).toBe("main");
  expect((await project.ov("run", "show")).out).toMatch(/target +main\n/);
  await untilAgent(project, "one", "completed/done");
  expect((await project.agent("one")).baseCommit).toBe(main);
  expect(await targetOf(project, slung.runId)).toBe("main");
  const started = await project.json("coordinator", "start", "--objective", "Lead");
  expect(started.targetBranch).toBe("feature");
  expect(await targetOf(project, started.runId)).toBe("feature");
}, 120_000);

test("what is checked out counts where the command is typed, not at the project's root", async () => {
  await using project = await makeProject({ scenario });
  await project.git("tag", "main");
  await project.git("checkout", "--quiet", "-b", "develop");
  await commit(project, "of develop");
  const linked = join(project.root, "..", "linked");
  await project.git("worktree", "add", "--quiet", linked, "refs/heads/main");
  await project.git("-C", linked, "checkout", "--quiet", "main", "--");
  const said = await project.ovWith({ cwd: linked }, "sling", "Do it", "--name", "one", "--run", "new");
  expect(said).toMatchObject({ code: 0, out: expect.stringContaining(", for main\n") });
  await untilAgent(project, "one", "completed/done");
  const one = await project.agent("one");
  expect(one.baseCommit).toBe(await tipOf(project, "refs/heads/main"));
  expect(await targetOf(project, one.runId)).toBe("main");
  const typed = await project.json("sling", "Do more", "--name", "two", "--run", "new", "--target", "develop");
  expect(typed.targetBranch).toBe("develop");
  const joined = await project.ov("sling", "Do this", "--run", String(typed.runId), "--target", "main");
  expect(joined).toMatchObject({ code: 2, err: expect.stringContaining("which is for develop") });
  const unknown = await project.ov("sling", "Do this", "--run", "new", "--target", "nowhere");
  expect(unknown.code).toBe(7);
  // The worktree of an agent goes with it, so this one is made by hand. The root of the project counts there.
  const worktree = join(project.root, ".overstory", "worktrees", "three");
  await project.git("worktree", "add", "--quiet", "-b", "overstory/three/T", worktree, "refs/heads/main");
  const inside = await project.ovWith({ cwd: worktree }, "sling", "Do that", "--run", "new", "--dry-run", "--json");
  expect(jsonOf(inside)).toMatchObject({ targetBranch: "develop" });
}, 120_000);

test("with a detached HEAD it is said from where the work starts, and what is no part of it", async () => {
  await using project = await makeProject({ scenario, gates: ["test ! -e loose.txt"] });
  const main = await tipOf(project, "main");
  await project.git("checkout", "--quiet", "--detach");
  await Bun.write(join(project.root, "loose.txt"), "loose\n");
  await project.git("add", "loose.txt");
  const loose = await commit(project, "loose");
  const words = `HEAD is detached at ${loose.slice(0, 12)}; the work starts from main at ${main.slice(0, 12)}`;
  const slung = await project.ov("sling", "Do it", "--name", "one");
  expect(slung.err).toContain(`${words}, and 1 commit that main lacks is not part of it`);
  expect(slung.out).toContain(", for main\n");
  await untilAgent(project, "one", "completed/done");
  expect((await project.agent("one")).baseCommit).toBe(main);
  const gone = await project.ov("go", "Improve it", "--yes");
  expect(gone.code).toBe(0);
  const all = gone.out + gone.err;
  expect(all).toContain(`the work starts from main at ${main.slice(0, 12)}`);
  expect(all).toContain("The gates pass on main");
  expect(all).not.toContain("is checked out here");
}, 120_000);

test("with a detached HEAD, joining a run for another branch says that branch, and nothing of the project's", async () => {
  await using project = await makeProject({ scenario });
  await project.git("branch", "release");
  const run = ["--target", "release", "--run", "new", "--name", "one"];
  const { runId } = await project.json("sling", "Do it", ...run);
  await project.git("checkout", "--quiet", "--detach");
  const words = `no branch is checked out here, but run ${runId} is for release; for main, type the same with: --run new`;
  const planned = await project.ov("sling", "Do more", "--name", "two", "--dry-run", "--json");
  expect(jsonOf(planned)).toMatchObject({ targetBranch: "release", warnings: [words] });
  const slung = await project.ov("sling", "Do more", "--name", "two");
  expect(slung.err).toContain(words);
  for (const { err } of [planned, slung]) {
    expect(err).not.toContain("the work starts from main");
    expect(err).not.toContain("main is checked out here");
  }
  const own = await project.ov("sling", "Do the rest", "--name", "three", "--run", "new", "--dry-run");
  expect(own.err).toContain("the work starts from main at");
}, 120_000);

test("a run whose first agent starts at a tag says where its work lands before it has landed", async () => {
  const builder = `- do:
    - edit: { file: new.txt, write: "new\\n" }
    - commit: work
    - ov: [done, --summary, well]
`;
  await using project = await makeProject({ scenario: builder, gates: ["true"] });
  await project.git("tag", "v1");
  await commit(project, "after the tag");
  const { runId } = await project.json("sling", "Do it", "--name", "one", "--base-branch", "v1", "--wait=done");
  const landing = `overstory/integration/${runId}`;
  expect((await project.agent("one")).baseCommit).toBe(await tipOf(project, "v1^{commit}"));
  expect((await project.ov("merge", "list")).out).toContain(`into ${landing}`);
  expect((await project.ov("inbox", "--peek")).out).toContain(`would land on ${landing};`);
  expect((await project.ov("run", "show")).out).toContain(`lands on   ${landing},`);
}, 120_000);

test("who is asked about a branch for a checked-out target is not told that it lands on the target itself", async () => {
  await using project = await makeProject({ scenario, gates: ["true"] });
  await project.git("checkout", "--quiet", "-b", "feature");
  await commit(project, "of feature");
  await project.git("checkout", "--quiet", "main");
  await project.json("merge", "add", "feature");
  const words = "feature would land on main, or on a landing branch for it while main is checked out;";
  expect((await project.ov("inbox", "--peek")).out).toContain(words);
  expect(JSON.stringify(await project.json("mail", "list"))).toContain(words);
}, 120_000);

test("a branch that leaves no room for those of agents is refused before anything is written", async () => {
  await using project = await makeProject({ bare: true, scenario });
  await project.git("branch", "overstory");
  const refused = { code: 2, err: expect.stringContaining("git branch -m overstory <new name>") };
  expect(await project.ov("init")).toMatchObject(refused);
  expect(await project.ov("go", "Improve it", "--yes", "--runtime", "scripted")).toMatchObject(refused);
  expect(await project.git("status", "--porcelain")).toBe("");
  await project.git("branch", "-m", "overstory", "ours");
  await project.json("init", "--no-instructions");
  await project.git("branch", "-m", "ours", "overstory");
  expect(await project.ov("sling", "Do it")).toMatchObject(refused);
  expect(await project.json("task", "list")).toMatchObject({ tasks: [] });
}, 120_000);
