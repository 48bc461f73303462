import { expect } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ranTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { confining, testConfined } from "../../testkit/sandboxed.ts";
import { statePath } from "../../testkit/state.ts";

/** Tells the processes of this test from those of every other. */
const seconds = `7${process.pid}`;

const enginePid = (project: TestProject): number | undefined => {
  const path = statePath(project.root, "run", "engine.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).pid : undefined;
};

async function slung(project: TestProject): Promise<void> {
  await project.json("task", "create", "Work", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1", "--capability", "builder");
}

testConfined("ov done of a confined agent is answered although the engine is killed meanwhile", async () => {
  const gate = 'until [ -e "$(git rev-parse --git-common-dir)/go" ]; do touch started; sleep 0.05; done';
  await using project = await makeProject({
    config: confining,
    gates: [gate],
    scenario: `
- do:
    - edit: { file: a.txt, write: "x" }
    - commit: "Add a file"
    - ov: engine status > "$OVERSTORY_SCENARIO_STATE/status"
    - ov: [done, --summary, "It is there."]
    - say: Done.
`,
  });
  await slung(project);
  const gates = () => [
    ...new Bun.Glob("*/started").scanSync({ cwd: join(project.root, ".overstory/merge-worktrees"), onlyFiles: true }),
  ];
  await project.until(
    "the gate ran",
    async () => existsSync(join(project.root, ".overstory/merge-worktrees")) && gates().length > 0,
  );
  expect(readFileSync(join(project.state, "status"), "utf8")).toContain(`Engine: pid ${enginePid(project)}`);
  const first = enginePid(project) ?? 0;
  process.kill(first, "SIGKILL");
  await project.until("another engine ran", async () => ![undefined, first].includes(enginePid(project)));
  writeFileSync(join(project.root, ".git/go"), "");
  await project.until("it was done", async () => (await project.agent("b1")).outcome === "done");
  expect(await ranTurns(project, "b1")).toHaveLength(1);
});

testConfined(
  "stopping a confined agent ends everything that it started, and a lost supervisor is replaced",
  async () => {
    await using project = await makeProject({
      config: confining,
      env: { OVERSTORY_TEST_LEASE_MS: "600" },
      scenario: `
- do:
    - child: { command: "exec sleep ${seconds}" }
    - shell: setsid sh -c 'env -i sleep ${seconds} >/dev/null 2>&1 </dev/null &'
    - touch: \${env.OVERSTORY_SCENARIO_STATE}/begun
    - waitFor: { file: "\${env.OVERSTORY_SCENARIO_STATE}/go" }
    - edit: { file: a.txt, write: "x" }
    - touch: \${env.OVERSTORY_SCENARIO_STATE}/wrote
    - hang: true
`,
    });
    await slung(project);
    await project.until("it had begun", async () => existsSync(join(project.state, "begun")));
    const { id: agentId } = await project.agent("b1");
    const supervisor = () =>
      project.read(async (tx) => {
        const turn = await tx.turns.runningFor(agentId);
        const live = turn === undefined ? [] : await tx.processes.liveForTurn(turn.id);
        return live.find(({ role }) => role === "supervisor");
      });
    const lost = await supervisor();
    process.kill(lost?.pid ?? 0, "SIGKILL");
    await project.until(
      "another supervisor had the turn",
      async () => ![undefined, lost?.pid].includes((await supervisor())?.pid),
    );
    writeFileSync(join(project.state, "go"), "");
    await project.until("the same process went on", async () => existsSync(join(project.state, "wrote")));
    expect((await project.json("stop", "b1")).success).toBe(true);
    await project.until("nothing of it ran", async () => sleepers().length === 0);
    expect((await project.agent("b1")).outcome).toBe("stopped");

    function sleepers(): string[] {
      const found = Bun.spawnSync({ cmd: ["pgrep", "-x", "-f", `sleep ${seconds}`] });
      return found.stdout
        .toString()
        .split("\n")
        .filter((line) => line !== "");
    }
  },
);
