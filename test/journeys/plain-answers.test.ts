import { expect, test } from "bun:test";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Answers that said something else than what was so. */

test("an empty list of all tasks does not advise to list all tasks", async () => {
  await using project = await makeProject();
  expect((await project.ov("task", "list")).out).toContain("see all: ov task list --all");
  const all = await project.ov("task", "list", "--all");
  expect(all.out).toContain("No tasks.");
  expect(all.out).not.toContain("--all");
});

test("a check of the status that is quiet prints nothing", async () => {
  await using project = await makeProject();
  expect((await project.ov("status", "--check")).out).not.toBe("");
  expect(await project.ov("status", "--check", "--quiet")).toMatchObject({ code: 0, out: "" });
});

test("a receipt that does not exist points to what names receipts", async () => {
  await using project = await makeProject();
  const { code, err } = await project.ov("gate", "show", "nope");
  expect([code, err]).toEqual([7, expect.stringContaining("ov gate show <agent>")]);
  expect(err).not.toContain("ov gate list");
});

test("Ctrl-C at once says that a merge goes on without its caller", async () => {
  await using project = await makeProject({ gates: ["sleep 2"] });
  await project.git("checkout", "--quiet", "-b", "feature");
  await Bun.write(`${project.root}/a.txt`, "a\n");
  await project.git("add", "a.txt");
  await project.git("commit", "--quiet", "-m", "a");
  await project.git("checkout", "--quiet", "main");
  const queued = async () => (await project.read((tx) => tx.merges.list({}))).length === 1;
  const merge = await leftAtOnce(project, queued, "merge", "--branch", "feature", "--yes");
  expect(merge).toEqual([130, expect.stringContaining("the merge goes on in the engine")]);
}, 60_000);

/** Types a command, and Ctrl-C as soon as what it asks for is on record. */
async function leftAtOnce(project: TestProject, isAsked: () => Promise<boolean>, ...args: string[]) {
  const cmd = [ovBinary(), ...args];
  const child = Bun.spawn({ cmd, cwd: project.root, env: { ...project.env }, stdio: ["ignore", "pipe", "pipe"] });
  const out = new Response(child.stdout).text();
  await project.until("it was asked for", isAsked);
  await Bun.sleep(200);
  child.kill("SIGINT");
  return [await child.exited, await out] as const;
}
