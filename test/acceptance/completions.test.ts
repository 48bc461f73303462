import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { spellings, spotsOf } from "../../src/surfaces/cli/completions/spots.ts";
import { globalFlags } from "../../src/surfaces/cli/globals.ts";
import { type Shell, shells } from "../../src/surfaces/cli/tree/tool-commands.ts";
import { tree } from "../../src/surfaces/cli/tree.ts";
import { anAgent, aRun } from "../../testkit/contracts/store/rows.ts";
import { fillStore } from "../../testkit/mail-seed.ts";
import { makeProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";

const inScript = (shell: Shell, word: string): string => {
  if (shell !== "fish") return word;
  return word.startsWith("--") ? ` -l ${word.slice(2)} ` : ` -s ${word.slice(1)} `;
};

for (const shell of shells) {
  test(`the ${shell} script offers every command and every flag of the program`, async () => {
    await using project = await makeProject({ bare: true });
    const { code, out } = await project.ov("completions", shell);
    expect(code).toBe(0);
    const spots = spotsOf(tree);
    const words = [...spots.flatMap(({ flags }) => flags), ...globalFlags].flatMap(spellings);
    expect(words.length).toBeGreaterThan(80);
    expect(words.filter((word) => !out.includes(inScript(shell, word)))).toEqual([]);
    const names = spots.flatMap(({ commands }) => commands.map(({ name }) => name));
    expect(names.filter((name) => !out.includes(name))).toEqual([]);
  });

  test.skipIf(Bun.which(shell) === null)(`${shell} itself finds no mistake in its script`, async () => {
    await using project = await makeProject({ bare: true });
    const file = join(project.home, `ov.${shell}`);
    writeFileSync(file, (await project.ov("completions", shell)).out);
    const checked = Bun.spawnSync([shell, "-n", file]);
    expect({ code: checked.exitCode, err: checked.stderr.toString() }).toEqual({ code: 0, err: "" });
  });
}

test("a key press gets the names that begin so, waits for nobody, and never gets an error", async () => {
  await using project = await makeProject();
  await fillStore(project.root, async (tx) => {
    await tx.runs.insert(aRun("r1"));
    for (const name of ["b1", "b2", "lead-1"]) await tx.agents.reserve(anAgent(name));
  });
  using writer = rawDatabase(project, "write");
  writer.run("BEGIN IMMEDIATE");
  expect(await project.ov("__complete", "agents", "--", "b")).toEqual({ code: 0, out: "b1\nb2\n", err: "" });
  writer.run("ROLLBACK");
  expect(project.processes()).toEqual([]);
  expect(await project.ov("__complete", "configKeys", "--", "mail.lease")).toMatchObject({
    code: 0,
    out: "mail.leaseMs\n",
  });
  expect(await project.ov("__complete", "nonsense", "--", "b")).toEqual({ code: 0, out: "", err: "" });
  const outside = await project.ovWith({ cwd: project.home }, "__complete", "agents", "--", "b");
  expect(outside).toEqual({ code: 0, out: "", err: "" });
});
