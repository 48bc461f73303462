import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { killServices, letGo, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** Runs the line in `$HOME/line` as soon as it is there, and notes its exit code. */
const obedient = `
- when: { agent: b1 }
  do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/line" }
    - shell: sh "$HOME/line" > "$HOME/said" 2>&1; echo $? > "$HOME/code"
    - hang: true
- do: [{ hang: true }]
`;

async function withVictim(): Promise<TestProject> {
  const project = await makeProject({ scenario: obedient });
  await slingNew(project, "X");
  await slingNew(project, "B1");
  await untilAgent(project, "x", "in_turn");
  await untilFile(project, "ready");
  return project;
}

async function fromInside(project: TestProject, line: string): Promise<{ code: number; said: string }> {
  await Bun.write(join(project.home, "line"), `${line}\n`);
  const noted = (file: string): string => readFileSync(join(project.home, file), "utf8");
  await untilFile(project, "code");
  await project.until("the line had been run", async () => noted("code") !== "");
  return { code: Number(noted("code")), said: noted("said") };
}

describe("inside an agent", () => {
  const masks = {
    "without its token": "env -u OVERSTORY_TOKEN ov stop x",
    "with an empty token": "OVERSTORY_TOKEN= ov stop x",
    "under another's name": "env -u OVERSTORY_TOKEN OVERSTORY_AGENT_NAME=operator OVERSTORY_SESSION_ID=1 ov stop x",
    "from a session of its own": "env -u OVERSTORY_TOKEN setsid --wait ov stop x",
    "with a clean environment": `env -i HOME="$HOME" PATH="$PATH" "$(command -v ov)" stop x`,
    "with a token it made up": "OVERSTORY_TOKEN=abc ov stop x",
    "with its own token": "ov stop x",
  };
  test.each(Object.entries(masks))("stopping a stranger %s is refused and put on record", async (_, line) => {
    await using project = await withVictim();
    const { code, said } = await fromInside(project, line);
    expect(said).toMatch(/may not|belongs to no live agent/);
    expect(code).toBe(8);
    expect(await project.agent("x")).toMatchObject({ state: "in_turn", stopRequestedBy: null });
    const audited = await project.read((tx) => tx.audit.list(9));
    expect(audited).toMatchObject([{ action: "agent.stop", refused: true }]);
    if (!line.includes("abc")) expect(JSON.stringify(audited)).toContain("b1");
  });

  test("engine and settings are out of reach, with and without a token", async () => {
    await using project = await withVictim();
    const lines = [
      "ov engine stop",
      "ov config set agents.maxDepth 9",
      `ov --project "$OVERSTORY_PROJECT_ROOT" init --reset`,
    ];
    const tries = lines.flatMap((line) => [line, `env -u OVERSTORY_TOKEN ${line}`, `OVERSTORY_TOKEN= ${line}`]);
    const { said } = await fromInside(project, tries.map((line) => `${line}; echo "-> $?"`).join("\n"));
    expect([...said.matchAll(/-> (\d+)/g)].map(([, code]) => code)).toEqual(tries.map(() => "8"));
    expect(await project.json("engine", "status")).toMatchObject({ running: true });
    expect(await project.json("config", "get", "agents.maxDepth")).toMatchObject({ value: 2 });
    const audited = await project.read((tx) => tx.audit.list(20));
    expect(audited.map(({ caller }) => caller)).toEqual(tries.map(() => "b1"));
  });

  test("no command starts an engine, not even one that hides its token", async () => {
    await using project = await withVictim();
    killServices(project);
    const { code } = await fromInside(
      project,
      "ov status && env -u OVERSTORY_TOKEN ov status && OVERSTORY_TOKEN= ov status",
    );
    expect(code).toBe(0);
    await Bun.sleep(300);
    expect(existsSync(statePath(project.root, "run/engine.json"))).toBe(true);
    expect(await project.json("engine", "status")).toMatchObject({ running: false });
  });
});

test("an empty token outside of agents is no token: the operator's command starts the engine", async () => {
  await using project = await makeProject({
    scenario: "- do: [{ ov: [mail, send, --to, operator, --type, worker_done, --subject, d, --body, d] }]\n",
  });
  const answer = await project.ovWith({ env: { OVERSTORY_TOKEN: "" } }, "sling", "Some work", "--name", "b1");
  expect(answer.code).toBe(0);
  await untilAgent(project, "b1", "completed/done");
});

test("mail from inside an agent while the engine is dead brings one back when the turn ends, and disturbs no other turn", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: b1 }
  do:
    - touch: "\${env.HOME}/b1.ready"
    - waitFor: { file: "\${env.HOME}/speak" }
    - ov: [mail, send, --to, x, --type, question, --subject, q, --body, how far are you?]
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
- when: { agent: x, turn: 1 }
  do:
    - touch: "\${env.HOME}/x.ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [mail, send, --to, operator, --type, question, --subject, w, --body, what next?]
- do:
    - input: { expect: how far are you? }
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, that far]
`,
  });
  await slingNew(project, "X");
  await slingNew(project, "B1");
  await Promise.all(["b1.ready", "x.ready"].map((file) => untilFile(project, file)));
  const before = await project.read((tx) => tx.turns.running());
  killServices(project);
  await letGo(project, "speak");
  await untilAgent(project, "b1", "completed/done");
  await project.until(
    "an engine was there again",
    async () => (await project.json("engine", "status")).running === true,
  );
  const [other] = await project.read((tx) => tx.turns.running());
  expect(other).toMatchObject({
    agentName: "x",
    fence: 1,
    id: before.find((turn) => turn.agentName === "x")?.id ?? "",
  });
  await letGo(project);
  await untilAgent(project, "x", "completed/done");
});
