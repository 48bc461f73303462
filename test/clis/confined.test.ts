import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findCli, testWithCli } from "../../testkit/agent-clis/installed.ts";
import { claudeProject, conversation, scripted, textOf } from "../../testkit/claude.ts";
import { drivers } from "../../testkit/conformance/drivers.ts";
import { type FakeModel, startFakeModel } from "../../testkit/fake-model/server.ts";
import { eventsOf, ranTurns } from "../../testkit/lifecycle.ts";
import type { TestProject } from "../../testkit/project.ts";
import { confining, testConfined } from "../../testkit/sandboxed.ts";

interface Builder {
  readonly cli: "claude-2.1.325" | "codex";
  readonly name: string;
  readonly task: string;
}

/** A file that no agent of a project may write to; a confined one cannot. */
const outside = (project: TestProject): string => join(project.root, "planted.txt");

/** It commits, tries to write into the project from a script, which no guard reads, and finishes. */
async function slung(project: TestProject, model: FakeModel, { cli, name, task }: Builder): Promise<void> {
  const driver = drivers.find(({ id }) => id === cli);
  if (driver === undefined) throw new Error(`the kit has no driver ${cli}`);
  const place = { url: model.url, home: project.home };
  for (const [file, text] of Object.entries(driver.files(place))) {
    mkdirSync(dirname(join(project.home, file)), { recursive: true });
    writeFileSync(join(project.home, file), text);
  }
  const attempt = `printf 'echo x > ${outside(project)}\\nls ~/.ssh\\n' > try.sh; sh try.sh; rm try.sh`;
  const steps = scripted(
    { shell: attempt },
    { shell: `echo ${name} > ${name}.txt && git add ${name}.txt && git commit --quiet -m 'Add a file'` },
    { tool: "mcp__overstory__finish", input: { summary: "The file is there." } },
    { text: "All done." },
  );
  await project.json("task", "create", `The part of ${name}`, "--id", task, "--description", steps);
  const words = ["sling", task, "--name", name, "--runtime", driver.runtime, "--model", driver.model.flag];
  expect(await project.ovWith({ env: driver.shell(place) }, ...words)).toMatchObject({ code: 0 });
}

async function landed(project: TestProject, { name, task }: Builder): Promise<void> {
  const finished = async (): Promise<boolean> => {
    const failed = (await ranTurns(project, name)).find((turn) => turn.endedAt !== null && turn.clean !== true);
    if (failed !== undefined) throw new Error(`a turn of ${name} failed: ${failed.error}`);
    return (await project.read((tx) => tx.agents.byName(name)))?.state === "completed";
  };
  await project.until(`${name} had finished`, finished, 90_000);
  expect(await project.agent(name)).toMatchObject({ worktreeKind: "clone", outcome: "done", ahead: 1, dirty: false });
  const isMerged = async (): Promise<boolean> =>
    (await project.read((tx) => tx.merges.list({}))).some(
      ({ status, branch }) => status === "merged" && branch === `overstory/${name}/${task}`,
    );
  if (!(await isMerged())) await project.json("merge", "--branch", `overstory/${name}/${task}`);
  await project.until(`the work of ${name} had landed`, isMerged, 60_000);
}

async function journey(paths: readonly string[], builders: readonly Builder[]): Promise<void> {
  await using model = startFakeModel();
  await using project = await claudeProject(paths.join(":"), { config: confining, gates: ["test ! -e broken.txt"] });
  mkdirSync(join(project.home, ".ssh"));
  writeFileSync(join(project.home, ".ssh", "id_test"), "secret");
  for (const builder of builders) await slung(project, model, builder);
  for (const builder of builders) await landed(project, builder);
  const [entry] = await project.read((tx) => tx.merges.list({}));
  const files = await project.git("ls-tree", "--name-only", "-r", entry?.targetBranch ?? "");
  for (const { name } of builders) expect(files).toContain(`${name}.txt`);
  expect(await Bun.file(outside(project)).exists()).toBe(false);
  const told = conversation(model).map(textOf).join("\n");
  expect([told.includes("Read-only file system"), told.includes("id_test")]).toEqual([true, false]);
  for (const { name } of builders) expect([name, told.includes(`You are ${name}, a builder`)]).toEqual([name, true]);
  expect(await eventsOf(project, "guard_denied")).toEqual([]);
}

const claude: Builder = { cli: "claude-2.1.325", name: "b1", task: "T1" };
const codex: Builder = { cli: "codex", name: "b2", task: "T2" };

/** Without bubblewrap the test is skipped and says so. */
function testConfinedCli(cli: "claude" | "codex", name: string, body: (binDir: string) => Promise<void>): void {
  if (Bun.which("bwrap") === null) testConfined(name, () => body(""));
  else testWithCli(cli, name, body, { timeoutMs: 240_000 });
}

testConfinedCli("claude", "a confined builder of Claude Code and one of Codex finish and land in one run", (dir) =>
  journey([dir, dirname(findCli("codex") ?? "")], [claude, codex]),
);

testConfinedCli("claude", "a confined builder of Claude Code finishes and lands", (dir) => journey([dir], [claude]));

testConfinedCli("codex", "a confined builder of Codex finishes and lands", (dir) => journey([dir], [codex]));
