import { expect, test } from "bun:test";
import { promptsOf, untilTurns } from "../../testkit/lifecycle.ts";
import { jsonOf, ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";

/** A coordinator that answers whatever it is asked in the thread of the question, with its own means. */
const answering = `
- when: { capability: coordinator, input: "operator request" }
  do:
    - shell: |
        id=$(ov mail list --to "$OVERSTORY_AGENT_NAME" --type question --json | sed 's/.*"messages":\\[{"id":"\\([^"]*\\)".*/\\1/')
        ov mail reply "$id" --body "$OVERSTORY_AGENT_NAME is half way" --payload '{"percent":50}'
    - say: Answered.
- when: { capability: coordinator }
  do:
    - say: "\${agent} is at work."
- when: { capability: orchestrator }
  do:
    - say: Leading from above.
`;

const config = "coordinator:\n  exitTriggers:\n    onShutdownSignal: true\n";

test("two coordinators work at once, one answers a question headless, and stopping one leaves the other alone", async () => {
  await using project = await makeProject({ scenario: answering, config });
  const first = await project.json("coordinator", "start", "--objective", "Build it", "--target", "main");
  expect(first).toMatchObject({
    agentName: "coordinator",
    headless: true,
    objective: "Build it",
    targetBranch: "main",
  });
  const second = await project.json("coordinator", "start", "--name", "docs");
  expect(second.runId).not.toBe(first.runId);
  expect((await project.ov("coordinator", "start")).code).toBe(2);
  await untilTurns(project, "coordinator", 1);
  await untilTurns(project, "docs", 1);
  expect(promptsOf(project, "coordinator")[0]).toContain("Build it");
  expect(promptsOf(project, "coordinator")[0]).not.toContain("working in parallel");

  const asked = await project.json("coordinator", "ask", "--name", "docs", "--body", "How far?", "--timeout", "50");
  expect(asked).toMatchObject({ body: "docs is half way", payload: { percent: 50 }, subject: "Re: operator request" });
  expect(typeof asked.correlationId).toBe("string");
  expect(Number(asked.latencyMs)).toBeGreaterThanOrEqual(0);
  await project.settled();
  const output = await project.json("coordinator", "output", "--name", "docs");
  expect(output.content).toBe("docs is at work.\nAnswered.");

  const status = await project.json("coordinator", "status");
  expect(status).toMatchObject({ running: true, agentName: "coordinator", runStatus: "active" });
  expect(status.coordinators).toMatchObject([{ agentName: "coordinator" }, { agentName: "docs" }]);

  expect(await project.json("coordinator", "stop")).toMatchObject({
    stopped: true,
    runCompleted: true,
    runId: first.runId,
    workers: "leave",
  });
  expect(await project.json("coordinator", "status", "--name", "docs")).toMatchObject({
    running: true,
    runStatus: "active",
    runId: second.runId,
  });
  const again = await project.ov("coordinator", "stop", "--name", "coordinator");
  expect([again.code, again.out]).toEqual([0, expect.stringContaining("coordinator had ended already")]);
  expect(await project.json("coordinator", "start")).toMatchObject({ agentName: "coordinator", generation: 2 });
}, 120_000);

test("check-complete says by its exit code whether a shutdown was asked for, also when that was read", async () => {
  await using project = await makeProject({ scenario: answering, config });
  await project.json("coordinator", "start");
  await untilTurns(project, "coordinator", 1);
  expect((await project.ov("coordinator", "check-complete")).code).toBe(0);
  const open = await project.ov("coordinator", "check-complete", "--exit-code", "--json");
  expect(open.code).toBe(5);
  expect(jsonOf(open)).toMatchObject({
    success: true,
    complete: false,
    triggers: { onShutdownSignal: { enabled: true, met: false }, allAgentsDone: { enabled: false, met: false } },
  });
  await project.json("coordinator", "send", "--subject", "shutdown", "--body", "That is all.");
  await untilTurns(project, "coordinator", 2);
  const over = await project.ov("coordinator", "check-complete", "--exit-code", "--json");
  expect(over.code).toBe(0);
  expect(jsonOf(over)).toMatchObject({ complete: true });
}, 120_000);

test("the same words sent twice within a minute are sent once, and the second command says so", async () => {
  await using project = await makeProject({ scenario: "- do: [{ say: Busy. }]\n" });
  await project.json("coordinator", "start");
  const first = await project.json("coordinator", "send", "--body", "Go on.");
  const again = await project.ov("coordinator", "send", "--body", "Go on.");
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining(`Already sent as ${first.id}`) });
  expect(await project.json("coordinator", "send", "--body", "Go on.")).toMatchObject({
    id: first.id,
    duplicate: true,
  });
}, 120_000);

test("a question that nobody answers is waited for with words, and ends with the exit code of a time limit", async () => {
  await using project = await makeProject({ scenario: "- do: [{ say: Busy. }]\n" });
  expect((await project.ov("coordinator", "ask", "--body", "Anybody?")).code).toBe(7);
  await project.json("coordinator", "start");
  const asked = await project.ov("coordinator", "ask", "--body", "Anybody?", "--timeout", "4", "--json");
  expect(asked.code).toBe(124);
  expect(asked.err).toContain("waiting for the answer of coordinator, 4 s at most");
  expect(jsonOf(asked)).toMatchObject({ success: false, agentName: "coordinator" });
}, 120_000);

test("a coordinator that completes its own run ends with that turn, and its name is free", async () => {
  await using project = await makeProject({
    config: "coordinator:\n  lastReview: false\n",
    scenario: `
- when: { capability: coordinator }
  do:
    - ov: [run, criteria, prove, "1", --file, README.md]
    - ov: [run, complete]
    - say: Done.
`,
  });
  const { runId } = await project.json("coordinator", "start", "--objective", "Nothing at all");
  await project.until(
    "the coordinator had ended",
    async () => (await project.agent("coordinator")).state === "completed",
  );
  expect(await project.agent("coordinator")).toMatchObject({ outcome: "done" });
  expect((await project.read((tx) => tx.runs.get(String(runId))))?.status).toBe("completed");
  await project.until("every process had ended", async () => project.processes().length === 0);
  expect(await project.json("coordinator", "start")).toMatchObject({ generation: 2 });
}, 120_000);

test("stopping with its workers ends them too, and draining waits until they have finished", async () => {
  const scenario = `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [task, create, Some work, --id, T1]
    - ov: [sling, T1, --name, b1]
- when: { capability: coordinator }
  do: [{ say: Noted. }]
- when: { agent: b1, task: T1 }
  do:
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, d]
`;
  await using project = await makeProject({ scenario });
  const working = () =>
    project.until("b1 worked", async () => (await project.read((tx) => tx.turns.countRunning())) === 1);
  await project.json("coordinator", "start");
  await working();
  expect(await project.json("coordinator", "stop", "--workers", "stop")).toMatchObject({ workersStopped: ["b1"] });
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped" });

  await using another = await makeProject({ scenario });
  await another.json("coordinator", "start");
  await another.until("b1 worked", async () => (await another.read((tx) => tx.turns.countRunning())) === 1);
  const draining = another.json("coordinator", "stop", "--workers", "drain");
  await another.until("it was told", async () =>
    another.read(async (tx) => (await tx.messages.list({ to: "coordinator", type: "shutdown" })).length === 1),
  );
  expect((await another.agent("b1")).state).not.toBe("completed");
  await Bun.write(`${another.home}/go`, "");
  expect(await draining).toMatchObject({ stopped: true, runCompleted: true, workersLeft: [] });
  expect(await another.agent("b1")).toMatchObject({ state: "completed", outcome: "done" });
}, 180_000);

test("an orchestrator is started, followed and stopped by the same means", async () => {
  await using project = await makeProject({ scenario: answering });
  await project.json("orchestrator", "start", "--objective", "Two repositories");
  await untilTurns(project, "orchestrator", 1);
  expect(await project.json("orchestrator", "output")).toMatchObject({ content: "Leading from above." });
  expect(await project.json("orchestrator", "status")).toMatchObject({ running: true, objective: "Two repositories" });
  expect(await project.json("orchestrator", "stop")).toMatchObject({ stopped: true, runCompleted: true });
  expect((await project.ov("orchestrator", "check-complete")).code).toBe(2);
}, 120_000);

test("started with --attach it is followed until Ctrl-C, and works on afterwards", async () => {
  await using project = await makeProject({ scenario: answering });
  const child = Bun.spawn({
    cmd: [ovBinary(), "coordinator", "start", "--attach"],
    cwd: project.root,
    env: { ...project.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const reader = child.stdout.getReader();
  let heard = "";
  while (!heard.includes("coordinator is at work.")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`it left: ${heard}`);
    heard += new TextDecoder().decode(value);
  }
  child.kill("SIGINT");
  expect(await child.exited).toBe(0);
  expect(heard).toContain("Started coordinator coordinator");
  expect(await project.json("coordinator", "status")).toMatchObject({ running: true });
}, 120_000);

test("a monitor is started only where it is switched on, watches the same run and ends with it", async () => {
  await using plain = await makeProject({ scenario: answering });
  const refused = await plain.ov("coordinator", "start", "--monitor", "--json");
  expect(jsonOf(refused)).toMatchObject({ agentName: "coordinator", monitor: false });
  expect(refused.err).toContain("watchdog.tier2Enabled");
  await using project = await makeProject({ scenario: answering, config: "watchdog:\n  tier2Enabled: true\n" });
  const started = await project.json("coordinator", "start", "--monitor");
  expect(started.monitor).toBe(true);
  expect(await project.agent("monitor")).toMatchObject({ capability: "monitor", runId: started.runId });
  expect(await project.json("coordinator", "stop")).toMatchObject({ monitorStopped: true, workersLeft: [] });
  expect((await project.agent("monitor")).state).toBe("completed");
}, 120_000);

test("an objective that is to come from a closed or empty standard input starts nobody", async () => {
  await using project = await makeProject({});
  const child = Bun.spawn({
    cmd: ["sh", "-c", '"$1" coordinator start --objective - <&-', "sh", ovBinary()],
    cwd: project.root,
    env: { ...project.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  expect(await new Response(child.stderr).text()).toContain("nothing was piped in");
  expect(await child.exited).toBe(2);
  expect(await project.json("status")).toMatchObject({ agents: [], currentRunId: null });
});
