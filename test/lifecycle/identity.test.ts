import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aboutProcess } from "../../testkit/about-process.ts";
import {
  anotherEngineLeft,
  killServices,
  letGo,
  pidOf,
  slingNew,
  untilAgent,
  untilFile,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { openRaw } from "../../testkit/raw-database.ts";
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
  // In one step: the agent runs the file as soon as it is there.
  writeFileSync(join(project.home, "line.new"), `${line}\n`);
  renameSync(join(project.home, "line.new"), join(project.home, "line"));
  const noted = (file: string): string => readFileSync(join(project.home, file), "utf8");
  await untilFile(project, "code");
  await project.until("the line had been run", async () => noted("code") !== "");
  return { code: Number(noted("code")), said: noted("said") };
}

/** Runs the command where its parents have left by then, and waits for what it says. */
const detached = (command: string, after: string, before = ""): string => `
${before}sh -c '${command.replaceAll("'", "'\\''")} > "$HOME/out" 2>&1; echo $? > "$HOME/rc.new"; mv "$HOME/rc.new" "$HOME/rc"' ${after}
until [ -e "$HOME/rc" ]; do sleep 0.05; done
cat "$HOME/out"; exit "$(cat "$HOME/rc")"`;

describe("inside an agent", () => {
  const masks = {
    "without its token": "env -u OVERSTORY_TOKEN ov stop x",
    "with an empty token": "OVERSTORY_TOKEN= ov stop x",
    "under another's name": "env -u OVERSTORY_TOKEN OVERSTORY_AGENT_NAME=operator OVERSTORY_SESSION_ID=1 ov stop x",
    "from a session of its own": "env -u OVERSTORY_TOKEN setsid --wait ov stop x",
    "with a clean environment": `env -i HOME="$HOME" PATH="$PATH" "$(command -v ov)" stop x`,
    "with a token it made up": "OVERSTORY_TOKEN=abc ov stop x",
    "with its own token": "ov stop x",
    "from the background": detached("env -u OVERSTORY_TOKEN ov stop x", "&"),
    "from behind two parents that left": detached("env -u OVERSTORY_TOKEN ov stop x", "&) &", "("),
    "from behind two parents, a session and a clean environment": detached(
      `env -i HOME="$HOME" PATH="$PATH" setsid --wait "$(command -v ov)" --project "$OVERSTORY_PROJECT_ROOT" stop x`,
      "&) &",
      "(",
    ),
    "over the socket with an empty token": "OVERSTORY_CHANNEL=engine OVERSTORY_TOKEN= ov stop x",
    "over the socket without a token": "OVERSTORY_CHANNEL=engine env -u OVERSTORY_TOKEN ov stop x",
    "over the socket with its own token": "OVERSTORY_CHANNEL=engine ov stop x",
  };
  test.each(Object.entries(masks))("stopping a stranger %s is refused and put on record", async (_, line) => {
    await using project = await withVictim();
    const { code, said } = await fromInside(project, line);
    expect(said).toMatch(/may not|belongs to no live agent|does not count here/);
    expect(said).not.toContain("unset");
    expect(code).toBe(8);
    expect(await project.agent("x")).toMatchObject({ state: "in_turn", stopRequestedBy: null });
    const audited = await project.read((tx) => tx.audit.list(9));
    expect(audited).toMatchObject([{ action: "agent.stop", refused: true }]);
    if (!line.includes("CHANNEL")) expect(JSON.stringify(audited)).toContain("b1");
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

  test("no command starts an engine, and one that hides its token is shown nothing", async () => {
    await using project = await withVictim();
    killServices(project);
    const lines = ["ov status", "env -u OVERSTORY_TOKEN ov status", "OVERSTORY_TOKEN= ov status"];
    const { said } = await fromInside(project, lines.map((line) => `${line}; echo "-> $?"`).join("\n"));
    expect([...said.matchAll(/-> (\d+)/g)].map(([, code]) => code)).toEqual(["0", "8", "8"]);
    await anotherEngineLeft();
    expect(existsSync(statePath(project.root, "run/engine.json"))).toBe(true);
    expect(await project.json("engine", "status")).toMatchObject({ running: false });
  });

  const neighbourly = {
    "without a token": (root: string) => `env -u OVERSTORY_TOKEN ov --project ${root} task create "Mine now"`,
    "with its own": (root: string) => `ov --project ${root} task create "Mine now"`,
    "with a clean environment, from behind two parents": (root: string) =>
      detached(
        `env -i HOME="$HOME" PATH="$PATH" "$(command -v ov)" --project ${root} task create "Mine now"`,
        "&) &",
        "(",
      ),
    "as a new project": (root: string) =>
      `cd ${root}/.. && git init -q new && cd new && env -u OVERSTORY_TOKEN ov init`,
    "by changing settings": (root: string) =>
      `env -u OVERSTORY_TOKEN ov --project ${root} config set agents.maxDepth 9`,
  };
  test.each(Object.entries(neighbourly))("it is nobody in another project, %s", async (_, line) => {
    await using other = await makeProject();
    await other.json("task", "list");
    await using project = await withVictim();
    const { code, said } = await fromInside(project, line(other.root));
    expect(said).toMatch(/may not|belongs to no live agent/);
    expect(code).toBe(8);
    expect(await other.read((tx) => tx.tasks.ids())).toEqual([]);
    expect(existsSync(join(other.root, "../new/.overstory"))).toBe(false);
  });

  test("the token of another agent, read from its process, does not count", async () => {
    await using project = await withVictim();
    const victim = await pidOf(project, "x", "agent");
    const stolen = `t=$(tr '\\0' '\\n' < /proc/${victim}/environ | sed -n s/^OVERSTORY_TOKEN=//p); [ \${#t} -gt 20 ] || exit 99`;
    const send = "ov mail send --to operator --subject s --body b";
    const { code, said } = await fromInside(
      project,
      `${stolen}; OVERSTORY_TOKEN=$t ${send}; echo "-> $?"; OVERSTORY_CHANNEL=engine OVERSTORY_TOKEN=$t ${send}`,
    );
    expect(said).toContain("-> 8");
    expect(code).toBe(8);
    expect(await project.read((tx) => tx.messages.list({ from: "x" }))).toEqual([]);
    const audited = await project.read((tx) => tx.audit.list(9));
    expect(audited).toHaveLength(2);
    for (const { detail } of audited) expect(detail).toContain("token-elsewhere");
  });

  test("a lead that takes the token and the limit of an agent below it is refused; that agent's own children are not", async () => {
    const scenario = `
- when: { agent: l1 }
  do:
    - waitFor: { file: "\${env.HOME}/line" }
    - shell: sh "$HOME/line" > "$HOME/said" 2>&1; echo $? > "$HOME/code"
    - hang: true
- do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - shell: |
        (setsid sh -c 'sleep 0.3; ov mail send --to operator --subject own --body b; echo $? > "$HOME/own"' >/dev/null 2>&1 &)
    - hang: true
`;
    await using project = await makeProject({ scenario });
    await slingNew(project, "L1", "--capability", "lead");
    await slingNew(project, "X", "--parent", "l1", "--force-hierarchy");
    await untilFile(project, "ready");
    const victim = await pidOf(project, "x", "agent");
    const send = "ov mail send --to operator --subject forged --body b";
    const { said } = await fromInside(
      project,
      `t=$(tr '\\0' '\\n' < /proc/${victim}/environ | sed -n s/^OVERSTORY_TOKEN=//p); [ \${#t} -gt 20 ] || exit 99
l=$(awk '/file locks/{print $5}' /proc/${victim}/limits)
for how in "" "setsid --wait"; do
  $how prlimit --locks=$l:$l env OVERSTORY_TOKEN=$t OVERSTORY_AGENT_NAME=x ${send}; echo "-> $?"
done`,
    );
    expect([...said.matchAll(/-> (\d+)/g)].map(([, code]) => code)).toEqual(["8", "8"]);
    await letGo(project, "go");
    await untilFile(project, "own");
    const sent = await project.read((tx) => tx.messages.list({ from: "x" }));
    expect(sent.map(({ subject }) => subject)).toEqual(["own"]);
  });

  test("services are not started by hand", async () => {
    await using project = await withVictim();
    const { code, said } = await fromInside(
      project,
      `env -u OVERSTORY_TOKEN ov engine run --project "$OVERSTORY_PROJECT_ROOT"`,
    );
    expect(said).toContain("not started inside an agent");
    expect(code).not.toBe(0);
  });
});

describe("who acts in another project than its own", () => {
  /** A copy of the project in which every agent is an orchestrator: an agent could write such a database. */
  async function forgedHome(project: TestProject): Promise<string> {
    const forged = join(project.home, "forged");
    await project.git("init", "--quiet", forged);
    cpSync(statePath(project.root), statePath(forged), { recursive: true, filter: (path) => !path.endsWith(".sock") });
    const database = openRaw(statePath(forged, "overstory.db"), "write");
    database.run("UPDATE agents SET capability = 'orchestrator'");
    database.close();
    return forged;
  }
  const stop = (home: string, root: string): string => `OVERSTORY_PROJECT_ROOT=${home} ov --project ${root} stop x`;

  test("an orchestrator is no operator of its own project, whichever of its worktrees or copies it names", async () => {
    await using project = await makeProject({ scenario: obedient });
    await slingNew(project, "X");
    await untilAgent(project, "x", "in_turn");
    await project.json("orchestrator", "start", "--name", "b1", "--objective", "Lead them");
    await untilFile(project, "ready");
    const homes = [join(project.root, ".overstory/worktrees/x"), join(project.root, ".git"), await forgedHome(project)];
    const lines = homes.map((home) => `${stop(home, project.root)}; echo "-> $?"`);
    const { said } = await fromInside(project, lines.join("\n"));
    expect([...said.matchAll(/-> (\d+)/g)].map(([, code]) => code)).toEqual(["8", "8", "8"]);
    expect(await project.agent("x")).toMatchObject({ state: "in_turn", stopRequestedBy: null });
  });

  test("a builder is no orchestrator because a database of its own says so", async () => {
    await using other = await makeProject();
    await other.json("task", "list");
    await using project = await withVictim();
    const home = await forgedHome(project);
    const create = `OVERSTORY_PROJECT_ROOT=${home} ov --project ${other.root} task create "Mine now"`;
    const { said } = await fromInside(project, `${stop(home, project.root)}; echo "-> $?"; ${create}; echo "-> $?"`);
    expect([...said.matchAll(/-> (\d+)/g)].map(([, code]) => code)).toEqual(["8", "8"]);
    expect(await project.agent("x")).toMatchObject({ state: "in_turn", stopRequestedBy: null });
    expect(await other.read((tx) => tx.tasks.ids())).toEqual([]);
  });
});

test("what a turn leaves behind is ended when it settles, wherever it went; what is not of the turn is not", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: b1 }
  do:
    - shell: |
        (setsid env -i /bin/sleep 600 >/dev/null 2>&1 </dev/null & echo $! > "$HOME/left")
        (nohup sh -c 'while :; do sleep 0.1; done' >/dev/null 2>&1 </dev/null & echo $! > "$HOME/busy")
    - ov: [done, --no-code, --summary, d]
- do: [{ touch: "\${env.HOME}/ready" }, { hang: true }]
`,
  });
  await slingNew(project, "X");
  await untilFile(project, "ready");
  const other = await pidOf(project, "x", "agent");
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  for (const name of ["left", "busy"]) {
    const pid = Number(readFileSync(join(project.home, name), "utf8"));
    expect([name, aboutProcess(pid, "cmdline")]).toEqual([name, ""]);
  }
  expect(aboutProcess(other, "cmdline")).not.toBe("");
});

test("an empty token is nobody's, outside of agents too", async () => {
  await using project = await makeProject();
  const answer = await project.ovWith({ env: { OVERSTORY_TOKEN: "" } }, "sling", "Some work", "--name", "b1");
  expect(answer.err).toContain("belongs to no live agent");
  expect(answer.code).toBe(8);
  expect(await project.read((tx) => tx.agents.byName("b1"))).toBeUndefined();
});

test("mail from inside an agent while the engine is dead brings one back when the turn ends, and disturbs no other turn", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: b1 }
  do:
    - touch: "\${env.HOME}/b1.ready"
    - waitFor: { file: "\${env.HOME}/speak" }
    - ov: [mail, send, --to, x, --type, question, --subject, q, --body, how far are you?]
- when: { agent: x, turn: 1 }
  do:
    - touch: "\${env.HOME}/x.ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [mail, send, --to, operator, --type, question, --subject, w, --body, what next?]
- do:
    - input: { expect: how far are you? }
    - ov: [done, --no-code, --summary, that far]
`,
  });
  await slingNew(project, "X");
  await slingNew(project, "B1");
  await Promise.all(["b1.ready", "x.ready"].map((file) => untilFile(project, file)));
  const before = await project.read((tx) => tx.turns.running());
  killServices(project);
  await letGo(project, "speak");
  await untilAgent(project, "b1", "between_turns");
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
