import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { put, seat, typed } from "../../testkit/worktrees-world.ts";

const done = "- ov: [done, --summary, d]";
const question = "- ov: [mail, send, --to, operator, --type, question, --subject, q, --body, q]";

/** A project with the submodule `lib`, whose remote is gone when the test begins. */
async function projectWithLib(
  steps: string,
  { gates = ["test -f lib/conf.ini"], ending = done }: { gates?: readonly string[]; ending?: string } = {},
): Promise<TestProject> {
  const scenario = `- do:\n    ${steps.trim().replaceAll("\n", "\n    ")}\n    ${ending}\n`;
  const project = await makeProject({ scenario, gates });
  const remote = join(dirname(project.root), "lib.git");
  mkdirSync(remote);
  const { git } = project;
  await git("-C", remote, "init", "--quiet");
  await Bun.write(join(remote, "conf.ini"), "[conf]\n");
  await git("-C", remote, "add", "-A");
  await git("-C", remote, "commit", "--quiet", "-m", "lib");
  await git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", remote, "lib");
  await git("commit", "--quiet", "-m", "submodule");
  rmSync(remote, { recursive: true });
  return project;
}

async function sling(project: TestProject, name: string, state = "completed"): Promise<void> {
  await project.json("task", "create", "Work", "--id", `t-${name}`);
  await project.json("sling", `t-${name}`, "--name", name);
  await project.until(`${name} was ${state}`, async () => (await project.agent(name)).state === state);
  await project.settled();
}

/** Its first turn ends with a question. */
async function slingAndStop(project: TestProject, name: string): Promise<void> {
  await sling(project, name, "between_turns");
  await project.json("stop", name);
}

/** What the first event of a type says. */
async function dataOf(project: TestProject, type: string): Promise<unknown> {
  const events = await project.read((tx) => tx.events.after(0, 1000));
  return JSON.parse(events.find((event) => event.type === type)?.data ?? "null");
}

/** Configurations of the user's modules, and the link in the user's checkout. */
const usersModules = (project: TestProject): readonly string[] => {
  const modules = join(project.root, ".git", "modules");
  const configs = readdirSync(modules, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith("config"));
  const files = [...configs.map((path) => join(modules, path)), join(project.root, "lib", ".git")];
  return [join(project.root, ".git", "config"), ...files].map((path) => `${path}\n${readFileSync(path, "utf8")}`);
};

test("an agent's commit in a submodule lands, survives every clean, and can be checked out without a network", async () => {
  await using project = await projectWithLib(`
- shell: git submodule update --init --recursive
- edit: { file: lib/conf.ini, write: "[changed]\\n" }
- shell: git -C lib commit --quiet -am "change lib"
- commit: bump lib`);
  const before = usersModules(project);
  await sling(project, "b1");
  expect(usersModules(project)).toEqual(before);
  const { branch } = await project.agent("b1");
  const merged = jsonOf(await project.ov("merge", "--branch", branch ?? "", "--json"));
  expect(merged).toMatchObject({ success: true, entry: { status: "merged", verdict: "verified" } });
  await project.until("its worktree was removed", async () => (await project.agent("b1")).cleanedAt !== null);
  await project.json("merge", "promote");
  await project.json("clean", "--all", "--yes");
  expect(readFileSync(join(project.root, "lib/conf.ini"), "utf8")).toBe("[conf]\n");
  await project.git("submodule", "update");
  expect(readFileSync(join(project.root, "lib/conf.ini"), "utf8")).toBe("[changed]\n");
  expect(usersModules(project)).toEqual(before);
}, 180_000);

test("one promotion after the other moves a submodule, whether or not the user updated it in between", async () => {
  await using project = await projectWithLib(`
- edit: { file: lib/conf.ini, write: "[\${agent}]\\n" }
- shell: git -C lib commit --quiet -am "change lib"
- commit: bump lib`);
  for (const name of ["b1", "b2", "b3"]) {
    await sling(project, name);
    const { branch } = await project.agent(name);
    await project.json("merge", "--branch", branch ?? "");
    expect(await project.json("merge", "promote")).toMatchObject({ moved: true });
    if (name !== "b1") await project.git("submodule", "update");
    const shown = name === "b1" ? "[conf]\n" : `[${name}]\n`;
    expect(readFileSync(join(project.root, "lib/conf.ini"), "utf8")).toBe(shown);
  }
  expect(await project.git("status", "--porcelain", "--", ".", ":!.overstory")).toBe("");
}, 180_000);

test("uncommitted work in a submodule survives release and clean, and comes back by ov recover", async () => {
  await using project = await projectWithLib(
    `
- edit: { file: lib/conf.ini, write: "half done\\n" }
- edit: { file: lib/new.txt, write: "new\\n" }`,
    { ending: question },
  );
  await slingAndStop(project, "b1");
  await project.json("release", "b1");
  await project.until("its worktree was removed", async () => (await project.agent("b1")).cleanedAt !== null);
  await project.json("clean", "--all", "--yes");
  expect(existsSync(join(project.root, ".overstory/worktrees/b1"))).toBe(false);
  const below = "refs/overstory/sub/b1/work/";
  const refs = (await project.git("-C", "lib", "for-each-ref", "--format=%(refname)", below)).trim();
  expect(refs).toMatch(/^refs\/overstory\/sub\/b1\/work\/[0-9a-f-]+$/);
  expect(await project.git("-C", "lib", "show", `${refs}:conf.ini`)).toBe("half done\n");
  expect(await project.git("-C", "lib", "show", `${refs}:new.txt`)).toBe("new\n");
  expect(await dataOf(project, "submodule_kept")).toEqual({ path: "lib", refs: [refs] });

  await project.json("recover", "b1");
  await project.until("it is seated", async () => (await project.agent("b1")).worktreePath !== null);
  const again = (await project.agent("b1")).worktreePath ?? "";
  expect(await dataOf(project, "work_restored")).toMatchObject({ files: ["lib/conf.ini", "lib/new.txt"] });
  expect(readFileSync(join(again, "lib/conf.ini"), "utf8")).toBe("half done\n");
  expect(readFileSync(join(again, "lib/new.txt"), "utf8")).toBe("new\n");
  await project.ov("stop", "b1", "--force");
}, 180_000);

test("a pointer to a commit that nobody has does not land, and the refusal says so", async () => {
  await using project = await projectWithLib(
    `
- shell: git update-index --cacheinfo 160000,1111111111111111111111111111111111111111,lib && git commit --quiet -m nowhere`,
    { ending: question },
  );
  await slingAndStop(project, "b1");
  const { branch } = await project.agent("b1");
  const answer = await project.ov("merge", "--branch", branch ?? "", "--leave-rest", "--json");
  expect(answer.code).not.toBe(0);
  expect(answer.out).toContain("the submodule lib cannot land: its commit 1111111111 is not in ");
  expect(answer.out).toContain("git submodule update --init --recursive -- lib");
  const [entry] = await project.read((tx) => tx.merges.list({}));
  expect(entry).toMatchObject({ status: "failed", cause: "lost_submodule", causeDetail: { files: ["lib"] } });
}, 180_000);

test("a filter that only a submodule defines is named, and runs once it is confirmed", async () => {
  await using project = await projectWithLib(
    `
- shell: cp lib/a.rot "$HOME/seen" || touch "$HOME/missing"`,
    { ending: "- ov: [done, --no-code, --summary, d]" },
  );
  const { git, root, home } = project;
  for (const key of ["clean", "smudge"]) await git("-C", "lib", "config", `filter.rot.${key}`, "tr a-z n-za-m");
  await Bun.write(join(root, "lib", ".gitattributes"), "*.rot filter=rot\n");
  await Bun.write(join(root, "lib", "a.rot"), "hello\n");
  await git("-C", "lib", "add", "-A");
  await git("-C", "lib", "commit", "--quiet", "-m", "filtered");
  await git("commit", "--quiet", "-am", "filtered");
  await sling(project, "b1");
  expect(existsSync(join(home, "missing"))).toBe(true);
  expect(JSON.stringify(await dataOf(project, "submodules_unfilled"))).toContain("ov trust add rot");
  expect(await project.json("trust", "list")).toMatchObject({
    programs: [{ name: "rot", standing: "unconfirmed", needed: true }],
  });
  await project.json("trust", "add", "rot");
  await sling(project, "b2");
  expect(readFileSync(join(home, "seen"), "utf8")).toBe("hello\n");
}, 180_000);

test("a submodule that cannot be filled is named to the agent, to the operator and by a gate that fails", async () => {
  const steps = `
- input: { expect: "empty submodules in the worktree of b1" }
- input: { expect: "lib: it is not initialised in the project's checkout" }
- edit: { file: a.txt, write: "a\\n" }
- commit: work`;
  // On the base it passes.
  await using project = await projectWithLib(steps, {
    gates: ["test -f lib/conf.ini || test ! -f a.txt"],
    ending: question,
  });
  await project.git("submodule", "--quiet", "deinit", "--force", "lib");
  rmSync(join(project.root, ".git", "modules"), { recursive: true });
  await slingAndStop(project, "b1");
  expect(await dataOf(project, "submodules_unfilled")).toMatchObject({ unfilled: [{ path: "lib" }] });
  expect((await project.ov("inbox", "--peek")).out).toContain("empty submodules in the worktree of b1");
  const { branch } = await project.agent("b1");
  const answer = await project.ov("merge", "--branch", branch ?? "", "--json");
  expect(answer.out).toContain("The submodule lib was empty here: it is not initialised in the project's checkout");
}, 180_000);

test("uncommitted work in a submodule is named where a snapshot is shown or restored, and ov recover brings it", async () => {
  await using project = await projectWithLib(
    `
- edit: { file: lib/conf.ini, write: "[changed]\\n" }
- edit: { file: lib/new.ini, write: "[new]\\n" }
- edit: { file: outside.txt, write: "o\\n" }`,
    { ending: question },
  );
  await slingAndStop(project, "b1");
  const path = (await project.agent("b1")).worktreePath ?? "";
  await project.json("release", "b1");
  await project.until("it was cleaned", async () => (await project.agent("b1")).cleanedAt !== null);
  const inSubmodules = ["lib/conf.ini", "lib/new.ini"];
  expect(await project.json("snapshots", "show", "b1")).toMatchObject({ inSubmodules });
  const to = join(dirname(project.root), "back");
  expect(await project.json("snapshots", "restore", "b1", "--to", to)).toMatchObject({ inSubmodules });
  const said = await project.ov("snapshots", "restore", "b1", "--branch", "back");
  expect(said.out).toContain("uncommitted in a submodule, not restored: lib/new.ini");
  expect(said.out).toContain("ov recover b1");
  await project.json("recover", "b1");
  await project.until("it is seated", async () => (await project.agent("b1")).worktreePath !== null);
  expect(readFileSync(join(path, "lib", "new.ini"), "utf8")).toBe("[new]\n");
  await project.ov("stop", "b1", "--force");
});

test("a promotion that moves a submodule, and its undo, say how its checkout follows, and that command brings it there", async () => {
  await using project = await projectWithLib(`
- edit: { file: lib/conf.ini, write: "[changed]\\n" }
- shell: git -C lib commit --quiet -am "change lib"
- commit: bump lib`);
  await sling(project, "b1");
  const { branch } = await project.agent("b1");
  await project.json("merge", "--branch", branch ?? "");
  const promotion = () => project.read((tx) => tx.mergeOps.list({ kind: "promote", status: "done" }));
  const follow = async (...words: readonly string[]): Promise<void> => {
    const moved = await project.ov(...words);
    expect(moved.code).toBe(0);
    const line = moved.out.split("\n").find((each) => each.includes("submodule update")) ?? "";
    expect(line).toContain("lib");
    expect(typed(project, line.slice(line.indexOf("git -C")))).toMatchObject({ code: 0 });
    expect(await project.git("status", "--porcelain", "--", "lib")).toBe("");
  };
  await follow("merge", "promote");
  await follow("merge", "undo", (await promotion())[0]?.id ?? "", "--yes");
});

test("an agent with nothing but uncommitted work, some of it new in a submodule, lands by the commands it is told", async () => {
  await using project = await projectWithLib("- say: nobody is started here");
  const path = await seat(project, "b1", { state: "zombie", outcome: "crashed" });
  put(path, "lib/new.ini", "[new]\n");
  put(path, "outside.txt", "o\n");
  const branch = "overstory/b1/t-1";
  const first = await project.ov("merge", "--branch", branch);
  expect(first.code).toBe(2);
  expect(first.err).not.toContain("--leave-rest");
  for (const words of [["--commit-rest", "--dry-run"], ["--commit-rest"]]) {
    const refused = jsonOf(await project.ov("merge", "--branch", branch, ...words, "--json"));
    expect(String(refused.error)).toContain("lib/new.ini is uncommitted inside a submodule");
    expect(String(refused.hint)).not.toContain("--leave-rest");
  }
  const { hint } = jsonOf(await project.ov("merge", "--branch", branch, "--commit-rest", "--json"));
  const fix = String(hint).slice(String(hint).indexOf("git -C"), String(hint).indexOf(", then ov merge"));
  expect(typed(project, fix)).toMatchObject({ code: 0 });
  const before = await project.git("for-each-ref");
  expect(await project.json("merge", "--branch", branch, "--commit-rest", "--dry-run")).toMatchObject({
    wouldCommit: { agentName: "b1", files: ["lib", "outside.txt"] },
  });
  expect(await project.git("for-each-ref")).toBe(before);
  expect(await project.json("merge", "--branch", branch, "--commit-rest")).toMatchObject({ success: true });
});
