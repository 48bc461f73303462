import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../../src/domain/mail/types.ts";
import { eventsOf, letGo, promptsOf, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { connect, seat, use } from "../mcp/mcp.world.ts";

const answers = ({ home }: TestProject, name: string): string => readFileSync(join(home, name), "utf8");

const payloadOf = (message: Message | undefined): Record<string, unknown> => JSON.parse(message?.payload ?? "{}");

const sling = async (project: TestProject, task: string, name: string, ...flags: string[]): Promise<void> => {
  await project.json("task", "create", `Task ${task}`, "--id", task);
  await project.json("sling", task, "--name", name, ...flags);
};

/** A builder that finishes each time it is asked, with a commit of its own. */
const builder = `
- when: { capability: builder }
  do:
    - shell: echo x >>work.txt; git add -A; git commit -qm work
    - ov: [done, --summary, "turn \${turn}"]
`;

test("a reviewer ends with a verdict, and says why when it sends a branch back", async () => {
  await using project = await makeProject({
    gates: ["true"],
    scenario: `${builder}
- when: { capability: reviewer }
  do:
    - shell: ov done --summary "looked at it" >"$HOME/none" 2>&1
      expect: 2
    - shell: ov done --summary "not good" --verdict fail >"$HOME/vague" 2>&1
      expect: 2
    - shell: ov done --summary "good" --verdict pass >"$HOME/pass" 2>&1
`,
  });
  await sling(project, "B", "b1");
  await untilAgent(project, "b1", "completed/done");
  await sling(project, "R", "r1", "--capability", "reviewer", "--force-hierarchy", "--base-branch", "overstory/b1/B");
  await untilAgent(project, "r1", "completed/done");
  expect(answers(project, "none")).toContain("a reviewer ends with a verdict");
  expect(answers(project, "vague")).toContain("has no findings");
  const [review] = await project.read((tx) => tx.messages.list({ type: "review" }));
  expect(review).toMatchObject({ fromAgent: "r1", address: "operator" });
  expect(payloadOf(review)).toMatchObject({ verdict: "pass", branch: "overstory/b1/B" });
  const [report] = await project.read((tx) => tx.messages.list({ from: "r1", type: "worker_done" }));
  expect(payloadOf(report)).toMatchObject({ verified: false, review: "pass", reviewedBranch: "overstory/b1/B" });
  expect((await project.agent("b1")).generation).toBe(1);
  expect(await project.read((tx) => tx.tasks.get("R"))).toMatchObject({ status: "closed" });
}, 60_000);

test("L9: the tool gates shows what finish proved, by the name of the branch and of its agent", async () => {
  await using project = await makeProject({ scenario: builder, gates: ["true"] });
  await sling(project, "B", "b1");
  await untilAgent(project, "b1", "completed/done");
  const { headCommit } = await project.agent("b1");
  await using lead = await connect(project, await seat(project, "lead1", "lead", { depth: 1 }));
  for (const branch of ["overstory/b1/B", "b1"]) {
    const seen = await use(lead, "gates", { branch });
    expect(seen.text).toStartWith(`${branch} at ${headCommit?.slice(0, 12)}: verified\ngate `);
    expect(seen.data).toMatchObject({ commit: headCommit, verdict: "verified", receipt: { kind: "completion" } });
  }
}, 60_000);

test("the tool gates shows what a failed gate printed to those who may not run it", async () => {
  await using project = await makeProject({ scenario: builder, gates: ["echo the reason; exit 1"] });
  await sling(project, "B", "b1");
  await untilAgent(project, "b1", "completed/done");
  await using head = await connect(project, await seat(project, "head", "coordinator", { depth: 0 }));
  const seen = await use(head, "gates", { branch: "overstory/b1/B" });
  expect(seen.text).toContain("failed");
  expect(seen.text).toContain("| the reason");
}, 60_000);

test("L12: builder and lead each get a verdict with its findings in one message, and the lead a turn only where it acts", async () => {
  await using project = await makeProject({
    gates: ["true"],
    scenario: `${builder}
- when: { agent: lead1, turn: 1 }
  do:
    - ov: [task, create, Build, --id, B]
    - ov: [sling, B, --name, b1]
- when: { agent: lead1, turn: 4 }
  do:
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, Ready, --body, B, --payload, '{"branch":"overstory/b1/B"}']
- when: { agent: lead1 }
  do:
    - ov: [sling, B, --capability, reviewer, --name, "r\${turn}"]
- when: { agent: r2 }
  do:
    - shell: |
        ov done --verdict needs_changes --summary "not yet" --findings "$(printf 'work.txt:1: critical: one word\\nexpected: two words')"
- when: { agent: r3 }
  do:
    - ov: [done, --verdict, pass, --summary, now it is right]
`,
  });
  await sling(project, "L", "lead1", "--capability", "lead");
  const handedOver = async () => (await project.read((tx) => tx.merges.list({}))).length === 1;
  await project.until("the branch was handed over", handedOver);
  const finding = { file: "work.txt", line: 1, severity: "critical", text: "one word", expected: "two words" };
  const [review] = await project.read((tx) => tx.messages.list({ from: "r2", type: "review" }));
  expect(review).toMatchObject({ address: "b1" });
  expect(payloadOf(review)).toMatchObject({ verdict: "needs_changes", findings: [finding] });
  const [verdict] = await project.read((tx) => tx.messages.list({ from: "r2", type: "worker_done" }));
  expect(payloadOf(verdict)).toMatchObject({ verdict: "needs_changes", findings: [finding] });
  // The lead had a turn for the work, for the mended work, with the verdict beside it, and for the pass. None for the fail.
  const prompts = promptsOf(project, "lead1");
  expect(prompts).toHaveLength(4);
  for (const words of ["one word", "two words", "b1 was started again with these findings"]) {
    expect(prompts[2]).toContain(words);
  }
  expect(prompts[3]).toContain("It passed. Hand the branch over with merge_ready; nobody else does.");
  expect(promptsOf(project, "b1")[1]).toContain("two words");
}, 120_000);

test("a builder that says it mended a commit which is as it was is told so once, and its lead reads it", async () => {
  await using project = await makeProject({
    gates: ["true"],
    scenario: `
- when: { capability: builder, turn: 1 }
  do:
    - shell: echo x >>work.txt; git add -A; git commit -qm work
    - ov: [done, --summary, built]
- when: { capability: builder }
  do:
    - shell: ov done --summary "all mended" >"$HOME/refused" 2>&1 || ov done --summary "all mended"
- when: { agent: lead1, turn: 1 }
  do:
    - ov: [task, create, Build, --id, B]
    - ov: [sling, B, --name, b1]
- when: { agent: lead1, turn: 2 }
  do:
    - ov: [mail, send, --to, b1, --type, review, --subject, overstory/b1/B, --body, one word is wrong, --payload, '{"verdict":"needs_changes","branch":"overstory/b1/B"}']
- when: { agent: lead1, turn: 3 }
  do:
    - ov: [sling, B, --capability, reviewer, --name, r1]
- when: { agent: r1 }
  do:
    - ov: [done, --verdict, needs_changes, --summary, not yet, --findings, "work.txt:1: error: one word"]
`,
  });
  await sling(project, "L", "lead1", "--capability", "lead");
  const prompts = () => promptsOf(project, "lead1");
  await project.until("the lead has read both reports", async () => prompts().length === 4);
  expect(answers(project, "refused")).toContain("r1 asked for changes of exactly this commit");
  // The first review is the lead's own, which names no commit.
  expect(prompts()[2]).toContain("Gap: lead1 asked for changes of this very commit");
  expect(prompts()[3]).toContain("Gap: r1 asked for changes of this very commit");
  expect(prompts()[3]).toContain("verified with gaps");
}, 120_000);

test("reviews send a builder back twice; the third time somebody above decides", async () => {
  await using project = await makeProject({
    gates: ["true"],
    scenario: `${builder}
- when: { capability: reviewer }
  do:
    - ov: [done, --summary, "still wrong", --verdict, fail, --branch, b1, --findings, "work.txt:1: wrong word"]
`,
  });
  await sling(project, "B", "b1");
  await untilAgent(project, "b1", "completed/done");
  const first = await project.agent("b1");
  for (const round of [1, 2, 3]) {
    await sling(project, `R${round}`, `r${round}`, "--capability", "reviewer", "--force-hierarchy");
    await untilAgent(project, `r${round}`, "completed/done");
    if (round === 3) break;
    await project.until("it was mended", async () => {
      const { generation, state } = await project.agent("b1");
      return generation === round + 1 && state === "completed";
    });
  }
  await project.settled();
  const last = await project.agent("b1");
  expect(last).toMatchObject({ generation: 3, worktreePath: first.worktreePath, ahead: 3, state: "completed" });
  expect(last.providerSessionId).toBe(first.providerSessionId);
  const reviews = await project.read((tx) => tx.messages.list({ type: "review" }));
  expect(reviews.map(({ address }) => address).toSorted()).toEqual(["b1", "b1", "operator"]);
  expect(payloadOf(reviews[0]).findings).toEqual([
    { file: "work.txt", line: 1, severity: "error", text: "wrong word" },
  ]);
  const [escalation] = await project.read((tx) => tx.messages.list({ type: "escalation" }));
  expect(payloadOf(escalation)).toMatchObject({ severity: "error", branch: "overstory/b1/B", fails: 3 });
  const asked = await project.read((tx) => tx.messages.list({ type: "decision_gate", to: "operator" }));
  expect(asked.filter((message) => payloadOf(message).queueId === undefined)).toHaveLength(1);
  expect(await eventsOf(project, "review_escalated")).toHaveLength(1);
}, 180_000);

test("a lead cannot finish while a builder's branch is neither handed over nor given up", async () => {
  await using project = await makeProject({
    gates: ["true"],
    scenario: `
- when: { agent: lead1, turn: 1 }
  do:
    - ov: [task, create, Build, --id, B]
    - ov: [sling, B, --name, b1]
    - shell: ov done --summary "all done" >"$HOME/early" 2>&1
      expect: 5
    - touch: "\${env.HOME}/asked"
- when: { agent: lead1 }
  do:
    - waitFor: { file: "\${env.HOME}/built" }
    - shell: ov done --summary "all done" >"$HOME/unready" 2>&1
      expect: 5
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, Ready, --body, B, --payload, '{"branch":"overstory/b1/B"}']
    - shell: ov done --summary "all done" >"$HOME/ready" 2>&1
    - touch: "\${env.HOME}/finished"
    - waitFor: { file: "\${env.HOME}/go" }
- when: { capability: builder }
  do:
    - waitFor: { file: "\${env.HOME}/asked" }
    - shell: echo x >>work.txt; git add -A; git commit -qm work
    - ov: [done, --summary, It is built]
`,
  });
  await sling(project, "L", "lead1", "--capability", "lead");
  await untilAgent(project, "b1", "completed/done");
  await letGo(project, "built");
  await untilFile(project, "finished");
  expect(answers(project, "early")).toContain("b1 is still at work");
  expect(answers(project, "unready")).toContain("overstory/b1/B of b1 was never handed over");
  expect(answers(project, "ready")).toContain("accepted and reported");
  await letGo(project);
  await untilAgent(project, "lead1", "completed/done");
  await project.until("the task of the lead was closed", async () => {
    return (await project.read((tx) => tx.tasks.get("L")))?.status === "closed";
  });
  expect(await project.read((tx) => tx.tasks.get("B"))).toMatchObject({ status: "closed", mergeState: "merged" });
}, 180_000);
