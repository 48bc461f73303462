import { expect, test } from "bun:test";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Three branches land on main itself, because main is checked out nowhere. */
async function landedDirectly(): Promise<{ project: TestProject; first: string }> {
  const project = await makeProject({ gates: ["true"] });
  await project.git("checkout", "--quiet", "-b", "elsewhere");
  const first = (await project.git("rev-parse", "main")).trim();
  for (const name of ["a", "b", "it's c"]) {
    const branch = name.replaceAll(" ", "-");
    await project.git("checkout", "--quiet", "-b", branch, "main");
    await Bun.write(`${project.root}/${branch}.txt`, `${branch}\n`);
    await project.git("add", `${branch}.txt`);
    await project.git("commit", "--quiet", "-m", branch);
    await project.git("checkout", "--quiet", "elsewhere");
    await project.json("merge", "--branch", branch);
  }
  return { project, first };
}

const filesOf = async (project: TestProject): Promise<readonly string[]> =>
  (await project.git("ls-tree", "--name-only", "main")).split("\n").filter((file) => file.endsWith(".txt"));

/** What a shell makes of a command that was printed. */
const typed = async (project: TestProject, command: string): Promise<void> => {
  const argv = Bun.spawnSync(["sh", "-c", `printf '%s\\n' ${command}`])
    .stdout.toString()
    .trim()
    .split("\n");
  const [program = "", ...args] = argv;
  if (program === "git") await project.git(...args);
  else await project.json(...args);
};

test("landed work that the user reset away from the target is named, with the command that brings it back", async () => {
  const { project, first } = await landedDirectly();
  await using _ = project;
  expect(await filesOf(project)).toEqual(["a.txt", "b.txt", "it's-c.txt"]);
  const whole = await project.ov("merge", "promote");
  expect(whole.out).toContain("Nothing to promote");
  expect(whole.out).not.toContain("no longer has it");
  await project.git("branch", "--force", "main", first);
  await project.json("merge", "--branch", "a");
  const { code, out } = await project.ov("merge", "promote");
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("b landed") });
  const commands = [...out.matchAll(/to bring it back: (.+)/g)].map(([, command = ""]) => command);
  expect(commands).toEqual(["ov merge --branch b", `ov merge --branch 'it'\\''s-c'`]);
  expect(await project.json("merge", "promote", "--target", "main")).toMatchObject({
    promote: null,
    moved: false,
    lost: [{ branchName: "b" }, { branchName: "it's-c" }],
  });
  for (const command of commands) await typed(project, command);
  expect(await filesOf(project)).toEqual(["a.txt", "b.txt", "it's-c.txt"]);
  expect((await project.ov("merge", "promote")).out).not.toContain("no longer has it");
});

test("where the branch was deleted since, the command that makes it again comes first", async () => {
  const { project, first } = await landedDirectly();
  await using _ = project;
  await project.git("branch", "--force", "main", first);
  await project.git("branch", "-D", "a");
  const { out } = await project.ov("merge", "promote", "--target", "main");
  const [, command = ""] = /bring it back: (git branch a .+)/.exec(out) ?? [];
  const [make = "", land = ""] = command.split(", then: ");
  await typed(project, make);
  await typed(project, land);
  expect(await filesOf(project)).toEqual(["a.txt"]);
});

test("work that the user put into other commits, and work that was undone, is not called lost", async () => {
  const { project, first } = await landedDirectly();
  await using _ = project;
  const undone = await project.json("merge", "undo", "b", "--yes");
  expect(undone).toMatchObject({ files: ["b.txt"], fileCount: 1, removedLocks: [] });
  const tree = (await project.git("rev-parse", "main^{tree}")).trim();
  const squashed = (await project.git("commit-tree", tree, "-p", first, "-m", "squashed")).trim();
  await project.git("branch", "--force", "main", squashed);
  const { out } = await project.ov("merge", "promote");
  expect(out).toContain("Nothing to promote");
  expect(out).not.toContain("no longer has it");
});
