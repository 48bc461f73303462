import { expect, test } from "bun:test";
import { operator } from "../../src/domain/caller/caller.ts";
import { randomIds } from "../../src/host/ids.ts";
import { fromCaller, post } from "../../src/usecases/mail/post.ts";
import { promptsOf, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { storedAgent } from "../../testkit/use-case.ts";
import { change, typed } from "../../testkit/worktrees-world.ts";

/** The coordinator plans two tasks and waits; nobody works on them. */
const scenario = `
- when: { capability: coordinator, turn: 1 }
  do:
    - shell: ov run criteria add "CSV is read"
    - shell: ov task create "Read CSV" --id T1 --criteria 1
- when: { capability: coordinator }
  do: [{ say: I wait. }]
`;

async function planned(...flags: readonly string[]): Promise<TestProject> {
  const project = await makeProject({ scenario });
  await project.json("coordinator", "start", "--objective", "Read CSV", ...flags);
  await untilTurns(project, flags[1] ?? "coordinator", 1);
  await project.settled();
  return project;
}

const leftOpen = ["task T1 is open: Read CSV", "criterion 1 has no proof: CSV is read"];

/** How the newest run stands, and what the event of its end says that it left open. */
const runOf = (project: TestProject) =>
  project.read(async (tx) => {
    const ended = (await tx.events.after(0, 10_000)).filter(({ type }) => type === "run_completed");
    return { status: (await tx.runs.list(1))[0]?.status, ended: ended.map(({ data }) => JSON.parse(data ?? "")) };
  });

test("ov coordinator stop ends the run and names what it leaves open", async () => {
  await using project = await planned();
  const { code, out } = await project.ov("coordinator", "stop");
  expect(code).toBe(0);
  for (const what of leftOpen) expect(out).toContain(`left open: ${what}`);
  expect(await runOf(project)).toEqual({
    status: "completed",
    ended: [expect.objectContaining({ by: "stop", open: leftOpen })],
  });
});

test("ov stop of the coordinator says that its run is active still, and the command that it names ends the run", async () => {
  await using project = await planned("--name", "docs");
  const { out } = await project.ov("stop", "docs");
  expect(out).toContain("has ended");
  const shown = (await project.ov("status")).out;
  expect(shown).toContain("docs, which led it, has ended");
  expect((await runOf(project)).status).toBe("active");
  const command = /end it: ov ([^;\n]+)/.exec(out)?.[1] ?? "";
  expect(shown).toContain(`end it: ov ${command}`);
  expect(await project.json(...command.trim().split(" "))).toMatchObject({ runCompleted: true, leftOpen });
  expect((await runOf(project)).status).toBe("completed");
  expect((await project.ov("status")).out).not.toContain("which led it");
});

test("ov stop --all says the same, and ov recover lets the run go on", async () => {
  await using project = await planned();
  const stopped = await project.json("stop", "--all");
  expect(stopped.ledRuns).toMatchObject([{ coordinatorName: "coordinator" }]);
  expect(await project.json("status")).toMatchObject({ endedLeader: "coordinator" });
  await project.json("recover", "coordinator");
  await project.settled();
  expect(await project.json("status")).toMatchObject({ endedLeader: null });
});

test("ov clean --all says before it asks which run ends and what that leaves open", async () => {
  await using project = await planned();
  await project.json("stop", "--all");
  const { out } = await project.ov("clean", "--all", "--dry-run");
  expect(out).toContain("Ends run ");
  for (const what of leftOpen) expect(out).toContain(`  - ${what}`);
  const done = await project.json("clean", "--all", "--yes");
  expect(done.plan).toMatchObject({ endRuns: true, openRuns: [{ open: leftOpen }] });
  expect(await runOf(project)).toEqual({
    status: "completed",
    ended: [expect.objectContaining({ by: "clean", open: leftOpen })],
  });
});

test("of two runs at once, each printed command acts on the run that it is printed for", async () => {
  await using project = await makeProject({ scenario: "- do: [{ say: I wait. }]\n" });
  const alpha = (await project.json("coordinator", "start", "--objective", "Alpha")).runId as string;
  const beta = (await project.json("coordinator", "start", "--objective", "Beta", "--name", "beta")).runId as string;
  for (const name of ["coordinator", "beta"]) await untilTurns(project, name, 1);
  await project.settled();
  const shown = (await project.ov("inbox", "--peek")).out.replace(/\s+/g, " ");
  const [, ofAlpha = "", ofBeta = ""] = /(! coordinator[^!]*)(! beta[^!]*)/.exec(shown) ?? [];
  expect(ofAlpha).toMatch(new RegExp(`check-complete;.*send --body "<what>";.*ov run complete --run ${alpha}`));
  expect(ofBeta).toMatch(/check-complete --name beta;.*send --body "<what>" --name beta;.*ov run complete(?! --run)/);

  const open = (await project.ov("coordinator", "check-complete")).out;
  const waive = new RegExp(`ov run criteria waive 1 --run ${alpha} --reason`).exec(open)?.[0] ?? "";
  const refused = await project.ov("run", "complete", "--run", alpha);
  expect(refused.err).toContain(`ov run complete --run ${alpha} --force`);
  expect(typed(project, `${waive} given-up`)).toMatchObject({ code: 0, text: expect.stringContaining("Alpha") });
  const ready = (await project.ov("coordinator", "check-complete")).out;
  expect(typed(project, /end it: (ov run complete.*)/.exec(ready)?.[1] ?? "")).toMatchObject({ code: 0 });
  const states = await project.read(async (tx) => [
    (await tx.runs.get(alpha))?.status,
    (await tx.runs.get(beta))?.status,
  ]);
  expect(states).toEqual(["completed", "active"]);
  // The waiver gave the coordinator a turn. It leaves when that turn has ended.
  await project.settled();
  expect((await project.ov("coordinator", "check-complete")).out).toContain('waive 1 --reason "<why>"');
});

test("mail to a coordinator whose run is over is refused, and what waits for it becomes no work of the next run", async () => {
  await using project = await makeProject({ scenario: "- do: [{ say: I wait. }]\n" });
  const first = (await project.json("coordinator", "start", "--objective", "Alpha")).runId as string;
  await untilTurns(project, "coordinator", 1);
  await change(project, async (tx) => {
    await tx.agents.reserve(storedAgent("b1", { runId: first, parentName: "coordinator" }));
  });
  // It starts no turn, so it waits for the next one.
  await project.json("mail", "send", "--to", "coordinator", "--from", "b1", "--subject", "news", "--body", "of Alpha");
  await project.json("run", "complete", "--force");
  await project.until("the coordinator has ended", async () => (await project.agent("coordinator")).endedAt !== null);

  const refused = await project.ov("mail", "send", "--to", "coordinator", "--subject", "one more", "--body", "wish");
  expect(refused.err).toContain("the message was not sent");
  expect(refused.err).toContain('begin another run: ov go "<objective>"');
  expect(refused.code).toBe(2);

  // As earlier versions stored it.
  const left = { ...fromCaller(operator), runId: first, address: "coordinator", priority: "normal" } as const;
  const recipients = [{ name: "coordinator", wake: false }];
  const wish = { ...left, recipients, subject: "wish", body: "also do X", type: "status", payload: null } as const;
  await change(project, async (tx) => {
    await post(tx, { ids: randomIds, now: Date.now() }, wish);
  });
  const next = (await project.json("coordinator", "start", "--objective", "Entirely different")).runId as string;
  await project.until("the next coordinator had a turn", async () => {
    const { id, runId } = await project.agent("coordinator");
    return runId === next && (await project.read((tx) => tx.turns.listFor(id))).some(({ endedAt }) => endedAt !== null);
  });
  const prompt = promptsOf(project, "coordinator").at(-1) ?? "";
  expect(prompt).toContain("Entirely different");
  for (const words of ["also do X", "of Alpha"]) expect(prompt).not.toContain(words);
  const inbox = await project.read((tx) => tx.messages.list({ to: "operator" }));
  const told = inbox.map(({ subject, body }) => `${subject}\n${body}`).join("\n");
  expect(told).toContain("a message of yours to coordinator went unread");
  expect(told).toMatch(/- wish \(ov mail read msg-/);
  expect(told).toContain("of Alpha\n\n[forwarded: coordinator, to whom it was sent, has ended.");
});
