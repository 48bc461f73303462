import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sendMail } from "../../src/usecases/mail/send.ts";
import { anotherEngineLeft, letGo, seatedLater, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { mailWorld } from "../../testkit/mail-world.ts";
import { makeProject } from "../../testkit/project.ts";
import { settingsFor } from "../../testkit/use-case.ts";

const asking = `
- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?] }]
`;

test("worktrees.baseDir and worktree.include say where an agent works and which ignored files come along", async () => {
  await using project = await makeProject({
    scenario: asking,
    files: { ".gitignore": ".env\ncache/\n" },
    config: "worktrees:\n  baseDir: .overstory/elsewhere\nworktree:\n  include: [.env]\n",
  });
  writeFileSync(join(project.root, ".env"), "KEY=1\n");
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  const worktree = join(project.root, ".overstory/elsewhere/b1");
  expect((await project.agent("b1")).worktreePath).toBe(worktree);
  expect(readFileSync(join(worktree, ".env"), "utf8")).toBe("KEY=1\n");
}, 120_000);

test("snapshot.maxFileBytes leaves larger files out of a snapshot", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - shell: printf tiny > small.txt && printf 'more than ten bytes' > large.txt
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?]
`,
    config: "snapshot:\n  maxFileBytes: 10\n",
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  await project.settled();
  const kept = await project.git("ls-tree", "--name-only", "refs/overstory/snap/b1/1/1");
  expect(kept.split("\n")).toContain("small.txt");
  expect(kept.split("\n")).not.toContain("large.txt");
}, 120_000);

test("runtime.capabilities gives a capability another runtime than runtime.default", async () => {
  await using project = await makeProject({ scenario: asking });
  const runtimeOf = async (...flags: string[]) =>
    (await project.json("sling", "Look at it", ...flags, "--dry-run")).runtime;
  await project.json("config", "set", "runtime.capabilities.scout", "claude");
  expect(await runtimeOf("--capability", "scout")).toBe("claude");
  expect(await runtimeOf()).toBe("scripted");
  await project.json("config", "set", "runtime.default", "claude");
  expect(await runtimeOf()).toBe("claude");
}, 120_000);

test("agents.maxDepth and agents.maxAgentsPerLead bound who may be slung below whom", async () => {
  await using project = await makeProject({
    scenario: asking,
    config: "agents:\n  maxDepth: 2\n  maxAgentsPerLead: 1\n",
  });
  await project.json("sling", "Lead it", "--capability", "lead", "--name", "l");
  const below = (name: string) =>
    project.ov("sling", `Work of ${name}`, "--name", name, "--parent", "l", "--files", `${name}.ts`, "--json");
  expect((await below("b1")).code).toBe(0);
  expect((await below("b2")).code).not.toBe(0);
  await project.json("config", "set", "agents.maxAgentsPerLead", "2");
  expect((await below("b2")).code).toBe(0);
  await project.json("config", "set", "agents.maxDepth", "1");
  await project.json("config", "set", "agents.maxAgentsPerLead", "9");
  const deep = await below("b3");
  expect(deep.code).not.toBe(0);
  expect(deep.out).toContain("deep");
}, 120_000);

test("agents.baseDir is where the project's own role texts are read", async () => {
  await using project = await makeProject({ config: "agents:\n  baseDir: roles\n" });
  mkdirSync(join(project.root, "roles"));
  writeFileSync(join(project.root, "roles/builder.local.md"), "Whistle while you work.\n");
  expect((await project.ov("prompt", "show", "builder")).out).toContain("Whistle while you work.");
}, 120_000);

test("engine.maxTurns is the number of turns at once over all runs, whatever each run may have", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - touch: "\${env.HOME}/\${agent}.ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, "\${agent}"]
`,
    config: "  maxTurns: 1\n",
  });
  for (const name of ["a", "b"]) await project.json("sling", `Work of ${name}`, "--name", name);
  const ready = (): string[] => readdirSync(project.home).filter((name) => name.endsWith(".ready"));
  await project.until("one ran", async () => ready().length === 1);
  await seatedLater(project, "c", "d");
  expect(ready()).toHaveLength(1);
  await letGo(project);
  await project.until("all ran", async () => ready().length === 4);
}, 120_000);

test("engine.idleExitMs is how long an engine without work stays", async () => {
  await using project = await makeProject();
  await project.json("config", "set", "engine.idleExitMs", "600000");
  const { pid } = await project.json("engine", "start");
  await anotherEngineLeft();
  expect(await project.json("engine", "status")).toMatchObject({ running: true, pid });
  await project.json("engine", "stop");
  await project.json("config", "set", "engine.idleExitMs", "2500");
  await project.json("engine", "start");
  await project.until("the engine had left", async () => project.processes().length === 0);
}, 120_000);

test.each([0, 1])(
  "agents.maxRevivals: %p is how often a submitted agent is reopened",
  async (maxRevivals) => {
    const { agents } = settingsFor("app");
    await using world = await mailWorld({}, { agents: { ...agents, maxRevivals } });
    await world.seat("b1", { state: "completed", outcome: "done" });
    const asked = await world.call(sendMail, { to: "b1", type: "question", subject: "q", body: "please mend it" });
    expect(asked.ok).toBe(maxRevivals > 0);
  },
  120_000,
);

test("project.canonicalBranch is what a branch lands on that belongs to no run", async () => {
  await using project = await makeProject({ gates: ["true"] });
  await project.git("branch", "trunk");
  await project.git("checkout", "--quiet", "-b", "feature");
  writeFileSync(join(project.root, "new.txt"), "new\n");
  await project.git("add", "new.txt");
  await project.git("commit", "--quiet", "-m", "feature");
  await project.git("checkout", "--quiet", "main");
  await project.json("config", "set", "project.canonicalBranch", "trunk");
  await project.json("merge", "--branch", "feature");
  expect(await project.git("ls-tree", "--name-only", "trunk")).toContain("new.txt");
  expect(await project.git("ls-tree", "--name-only", "main")).not.toContain("new.txt");
}, 120_000);
