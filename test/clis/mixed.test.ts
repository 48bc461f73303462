import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findCli, testWithCli } from "../../testkit/agent-clis/installed.ts";
import { claudeProject, conversation, scripted, textOf } from "../../testkit/claude.ts";
import { drivers } from "../../testkit/conformance/drivers.ts";
import { startFakeModel } from "../../testkit/fake-model/server.ts";
import { ranTurns } from "../../testkit/lifecycle.ts";

testWithCli(
  "claude",
  "a builder of Claude Code and one of Codex work for one run, and both branches land in it",
  async (claudeDir) => {
    const codexDir = dirname(findCli("codex") ?? "");
    await using model = startFakeModel();
    await using project = await claudeProject(`${claudeDir}:${codexDir}`, { gates: ["test ! -e broken.txt"] });
    const place = { url: model.url, home: project.home };
    const runtimes = ["claude-2.1.325", "codex"].map((id) => drivers.find((driver) => driver.id === id));
    for (const [at, driver] of runtimes.entries()) {
      if (driver === undefined) throw new Error("the kit has no such driver");
      for (const [file, text] of Object.entries(driver.files(place))) {
        mkdirSync(dirname(join(project.home, file)), { recursive: true });
        writeFileSync(join(project.home, file), text);
      }
      const steps = scripted(
        { shell: `echo ${driver.runtime} > ${driver.runtime}.txt && git add -A && git commit --quiet -m 'Add a file'` },
        { tool: "mcp__overstory__finish", input: { summary: "The file is there." } },
        { text: "All done." },
      );
      const task = `T${at + 1}`;
      await project.json("task", "create", `Part ${at + 1} of the greeting`, "--id", task, "--description", steps);
      const words = ["sling", task, "--name", `b${at + 1}`, "--runtime", driver.runtime, "--model", driver.model.flag];
      expect(await project.ovWith({ env: driver.shell(place) }, ...words)).toMatchObject({ code: 0 });
    }
    const landed = async (): Promise<boolean> => {
      const merged = await project.read((tx) => tx.merges.list({}));
      return merged.filter(({ status }) => status === "merged").length === 2;
    };
    for (const name of ["b1", "b2"]) {
      await project.until(
        `${name} had finished`,
        async () => {
          const failed = (await ranTurns(project, name)).find((turn) => turn.endedAt !== null && turn.clean !== true);
          if (failed !== undefined) throw new Error(`a turn of ${name} failed: ${failed.error}`);
          return (await project.read((tx) => tx.agents.byName(name)))?.state === "completed";
        },
        120_000,
      );
      if (!(await landed())) await project.json("merge", "--branch", `overstory/${name}/T${name.slice(1)}`);
    }
    await project.until("both branches had landed", landed, 60_000);
    const [one, two] = [await project.agent("b1"), await project.agent("b2")];
    expect(one.runId).toBe(two.runId);
    expect([one.driver, two.driver]).toEqual(["stream-json", "exec-json"]);
    const entries = await project.read((tx) => tx.merges.list({}));
    const targets = new Set(entries.map(({ targetBranch }) => targetBranch));
    expect(targets.size).toBe(1);
    const files = await project.git("ls-tree", "--name-only", "-r", [...targets][0] ?? "");
    for (const name of ["claude.txt", "codex.txt"]) expect(files).toContain(name);
    const dialects = conversation(model).map(({ asked }) => asked?.dialect);
    expect(new Set(dialects)).toEqual(new Set(["messages", "responses"]));
    for (const request of conversation(model)) expect(textOf(request)).toContain("You are b");
  },
  { timeoutMs: 240_000 },
);
