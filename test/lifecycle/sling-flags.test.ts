import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { databaseBytes, freezeAtRest, letGo, ranTurns, thaw, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { jsonOf, ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** Asks in its first turn, finishes in its second. */
const twoTurns = `
- when: { turn: 1 }
  do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?]
- do: [{ ov: [done, --no-code, --summary, done] }]
`;

test("--wait takes no other word than done, and nobody is seated for it", async () => {
  await using project = await makeProject({ scenario: twoTurns });
  const answer = await project.ov("sling", "Work of a", "--name", "a", "--wait=end", "--json");
  expect([answer.code, jsonOf(answer).error]).toEqual([2, expect.stringContaining("must be one of done")]);
  expect((await project.json("status")).agents).toEqual([]);
});

test("sling returns at once, --wait after the first turn, --wait=done when the agent has ended", async () => {
  await using project = await makeProject({ scenario: twoTurns });
  const ended: string[] = [];
  const sling = async (name: string, ...flags: string[]) => {
    const answer = jsonOf(await project.ov("sling", `Work of ${name}`, "--name", name, ...flags, "--json"));
    ended.push(name);
    return answer;
  };
  const [now, first, last] = [sling("a"), sling("b", "--wait"), sling("c", "--wait=done")];
  expect(await now).toMatchObject({ agentName: "a", state: "booting", pid: null });
  await untilFile(project, "ready");
  await sling("later");
  expect(ended).toEqual(["a", "later"]);
  await letGo(project);
  expect(await first).toMatchObject({ agentName: "b", initialTurnFinalState: "between_turns", outcome: null });
  await untilAgent(project, "c", "between_turns");
  expect(ended).toEqual(["a", "later", "b"]);
  const [question] = await project.read((tx) => tx.messages.list({ from: "c", type: "question" }));
  await project.json("mail", "reply", question?.id ?? "", "--body", "that one");
  expect(await last).toMatchObject({ agentName: "c", initialTurnFinalState: "completed", outcome: "done" });
  expect(await ranTurns(project, "c")).toHaveLength(2);
});

test("--wait=done names the commands that show the work and let it land", async () => {
  const work = '- do: [{ edit: { file: a.txt, write: "a\\n" } }, { commit: work }, { ov: [done, --summary, Work] }]';
  await using project = await makeProject({ scenario: work });
  const { code, out } = await project.ov("sling", "Work of a", "--name", "a", "--wait=done");
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("to let it land: ov merge approve 1") });
  expect(out).toContain("what it changes: ov merge diff 1");
});

test("--wait says what the agent waits for, with what to type, and --wait=done says it meanwhile", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: b, turn: 1 }
  do: [{ fail: overloaded }]
${twoTurns}`,
  });
  await letGo(project);
  const asking = await project.ov("sling", "Work of a", "--name", "a", "--wait");
  expect(asking.code).toBe(0);
  expect(asking.out).toMatch(/a asks: q — ov mail reply msg-\w+ --body/);
  const parked = await project.ov("sling", "Work of b", "--name", "b", "--wait");
  expect(parked.out).toContain("waits for the provider to take requests again");
  expect(parked.out).toMatch(/the provider is overloaded.*\(next try \d\d:\d\d\)/);
  expect(parked.out).toContain("to give up on it: ov stop b");
  const words = ["sling", "Work of c", "--name", "c", "--wait=done"];
  const env = { ...process.env, ...project.env };
  const waiting = Bun.spawn({ cmd: [ovBinary(), ...words], cwd: project.root, env, stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  let isAnswered = false;
  for await (const bytes of waiting.stderr) {
    told += new TextDecoder().decode(bytes);
    const [, id] = /c asks: q — ov mail reply (msg-\w+)/.exec(told) ?? [];
    if (id !== undefined && !isAnswered) {
      isAnswered = true;
      await project.json("mail", "reply", id, "--body", "that one");
    }
  }
  expect({ code: await waiting.exited, isAnswered }).toEqual({ code: 0, isAnswered: true });
}, 60_000);

test("--wait=done names why an agent failed, and what helps, as ov status does", async () => {
  const scenario = `
- when: { agent: a }
  do: [{ fail: login }]
- do: [{ say: hm }]
`;
  await using project = await makeProject({ scenario });
  const failed = await project.ov("sling", "Work of a", "--name", "a", "--wait=done");
  expect(failed.code).toBe(9);
  expect(failed.out).toContain("did not accept the login");
  expect(failed.out).toMatch(/log in.*then: ov recover a\n/);
  expect(failed.out).not.toContain("let it go on");
  const silent = await project.ov("sling", "Work of b", "--name", "b", "--wait=done", "--json");
  expect(silent.code).toBe(9);
  expect(jsonOf(silent)).toMatchObject({ error: expect.stringContaining("it never called finish"), hint: "ov logs b" });
}, 60_000);

/** An engine that stays for longer than the test takes: one that has just left cannot be frozen. */
const stays = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" };

test("--wait=done also returns for an agent that could not be started", async () => {
  await using project = await makeProject({ env: stays });
  await project.json("task", "create", "Other", "--id", "O1");
  const { pid } = (await project.json("engine", "start")) as { pid: number };
  await freezeAtRest(project, pid);
  const answer = project.ov("sling", "Some work", "--wait=done", "--json");
  await project.until("it was slung", async () => (await project.read((tx) => tx.agents.list({}))).length > 0);
  // Git cannot make its branch, `overstory/builder-some-work/some-work`, beside this one.
  await project.git("branch", "overstory/builder-some-work");
  thaw(pid);
  expect(jsonOf(await answer)).toMatchObject({ initialTurnFinalState: "zombie", outcome: "start_failed" });
});

test("--dry-run shows the plan and changes nothing", async () => {
  await using project = await makeProject({ scenario: twoTurns });
  await project.json("task", "create", "Build", "--id", "B1");
  const before = databaseBytes(project);
  const refs = await project.git("for-each-ref");
  const plan = await project.json("sling", "B1", "--files", "a.txt", "--dry-run");
  expect(plan).toMatchObject({
    dryRun: true,
    agentName: "builder-b1",
    capability: "builder",
    taskId: "B1",
    branch: "overstory/builder-b1/B1",
    parentAgent: "operator",
    depth: 1,
    runtime: "scripted",
    state: "planned",
  });
  expect(await project.json("sling", "Brand new work", "--dry-run")).toMatchObject({ taskId: "brand-new-work" });
  expect((await project.ov("sling", "B2", "--dry-run")).code).toBe(7);
  expect((await project.ov("sling", "B1", "--capability", "reviewer", "--dry-run")).code).toBe(8);
  expect(databaseBytes(project)).toBe(before);
  expect(await project.git("for-each-ref")).toBe(refs);
  expect(existsSync(join(project.root, ".overstory/worktrees"))).toBe(false);
  const kept = statePath(project.root, "run/env");
  expect(existsSync(kept) ? readdirSync(kept) : []).toEqual([]);
  expect(project.processes()).toEqual([]);
});

test("free text makes the task, whose id, name and branch follow from it", async () => {
  await using project = await makeProject({ scenario: twoTurns });
  const slung = await project.json("sling", "Add a greeting, and mean it!", "--files", "greeting.txt");
  expect(slung).toMatchObject({
    taskId: "add-a-greeting-and-mean-it",
    agentName: "builder-add-a-greeting-and-mean-it",
  });
  const task = await project.read((tx) => tx.tasks.get("add-a-greeting-and-mean-it"));
  expect(task).toMatchObject({
    title: "Add a greeting, and mean it!",
    status: "in_progress",
    claimedBy: "builder-add-a-greeting-and-mean-it",
  });
  expect(await project.agent("builder-add-a-greeting-and-mean-it")).toMatchObject({ scope: ["greeting.txt"] });
  const again = await project.ov("sling", "Add a greeting, and mean it!");
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining("title") });
});

test("--spec must be there and is named in the dispatch; --no-headless is refused", async () => {
  await using project = await makeProject({ scenario: twoTurns, files: { "plan.md": "# Plan\n" } });
  const missing = await project.ov("sling", "Some work", "--spec", "nowhere.md");
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("spec") });
  expect(await project.ov("sling", "Some work", "--no-headless")).toMatchObject({ code: 2 });
  await project.json("sling", "Some work", "--name", "b1", "--spec", "plan.md");
  const [dispatch] = await project.read((tx) => tx.messages.list({ to: "b1", type: "dispatch" }));
  expect(dispatch?.body).toContain(`Spec: ${join(project.root, "plan.md")}`);
});
