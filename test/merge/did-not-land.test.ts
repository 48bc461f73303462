import { expect, test } from "bun:test";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A branch with one commit that changes the same line as every other branch made by this. */
async function branchWith(project: TestProject, name: string): Promise<void> {
  await project.git("checkout", "--quiet", "-b", name, "main");
  await Bun.write(join(project.root, "line.txt"), `${name}\n`);
  await project.git("add", "line.txt");
  await project.git("commit", "--quiet", "-m", name);
  await project.git("checkout", "--quiet", "main");
}

test("a branch that did not land is named by the list, and its page says what can be done", async () => {
  await using project = await makeProject({ gates: ["true"] });
  await branchWith(project, "one");
  await branchWith(project, "two");
  expect((await project.ov("merge", "--branch", "one")).code).toBe(0);
  expect((await project.ov("merge", "--branch", "two")).code).toBe(4);
  const nothing = await project.ov("merge", "list");
  expect(nothing.out).toContain("Nothing is on its way.\n  1 branch did not land: ov merge show 2\n");
  const page = await project.ov("merge", "show", "2");
  expect(page.out).toContain("when it is mended, in new commits of its branch or elsewhere: ov merge retry 2\n");
  expect(page.out).toEndWith("to leave it as it is: ov merge cancel 2\n");
  const again = await project.ov("merge", "retry", "2");
  expect(again.out).toContain("its branch has no newer commit than the one that was tried\n");
  expect(again.out).toEndWith("see what becomes of it: ov merge show 2\n");
  await project.until("it has failed again", async () =>
    (await project.ov("merge", "show", "2")).out.includes("ov merge retry 2"),
  );
  await project.json("merge", "cancel", "2");
  expect((await project.ov("merge", "list")).out).not.toContain("did not land");
  expect((await project.ov("merge", "show", "2")).out).not.toContain("ov merge retry");
}, 60_000);

test("a page of an older try does not advise to repeat it", async () => {
  await using project = await makeProject({ gates: ["true"] });
  await branchWith(project, "one");
  await branchWith(project, "two");
  await project.ov("merge", "--branch", "one");
  await project.ov("merge", "--branch", "two");
  await project.git("checkout", "--quiet", "two");
  await project.git("merge", "--quiet", "-s", "ours", "overstory/integration/main");
  await project.git("checkout", "--quiet", "main");
  expect((await project.ov("merge", "--branch", "two")).code).toBe(0);
  const old = await project.ov("merge", "show", "2");
  expect(old.out).toContain("status     conflict");
  expect(old.out).not.toContain("ov merge retry");
}, 60_000);
