import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "../../src/store/sqlite.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { connect, seat, use } from "./mcp.world.ts";

async function commitOn(project: TestProject, branch: string, file: string, text: string): Promise<void> {
  await project.git("checkout", "--quiet", "-b", branch, "main");
  writeFileSync(join(project.root, file), text);
  await project.git("add", file);
  await project.git("commit", "--quiet", "-m", `change ${file}`);
  await project.git("checkout", "--quiet", "main");
}

test("a lead divides its work: tasks, specs, agents, and a look at the fleet", async () => {
  await using project = await makeProject({ scenario: "- do: [{ hang: true }]\n" });
  await project.json("task", "create", "Stream", "--id", "L1");
  await using lead = await connect(project, await seat(project, "lead-1", "lead", { taskId: "L1" }));
  const made = await use(lead, "task_create", { title: "Parser", id: "T1", files: ["src/a.ts"], priority: 1 });
  expect(made.text).toBe("Created T1 [open, P1] Parser");
  await use(lead, "task_create", { title: "Printer", id: "T2", blocked_by: ["T1"] });
  expect((await use(lead, "task_ready")).text).toContain("T1 [open, P1] Parser");
  const dep = { id: "T2", depends_on: "T1" };
  expect((await use(lead, "task_dep", { ...dep, remove: true })).text).toBe("T2 waits for nothing.");
  expect((await use(lead, "task_dep", dep)).text).toBe("T2 waits for T1.");
  expect((await use(lead, "spec_write", { task_id: "T1", body: "Parse it." })).isError).toBe(false);
  expect((await use(lead, "spec_read", { task_id: "T1" })).text).toContain("| Parse it.");
  const wrong = await use(lead, "spawn", { task_id: "T1", capability: "lead", files: [] });
  expect(wrong.text).toContain("capability is not one of the allowed values");
  const spawned = await use(lead, "spawn", { task_id: "T1", capability: "builder", files: ["src/a.ts"], name: "b1" });
  expect(spawned).toMatchObject({ isError: false, data: { agentName: "b1", branch: "overstory/b1/T1" } });
  expect(await project.agent("b1")).toMatchObject({ parentName: "lead-1", scope: ["src/a.ts"] });
  expect((await project.agent("b1")).specPath).toContain("T1");
  await use(lead, "task_create", { title: "Third", id: "T3" });
  const overlap = await use(lead, "spawn", { task_id: "T3", capability: "builder", files: ["src/*.ts"], name: "b2" });
  expect(overlap).toMatchObject({ isError: true });
  expect(overlap.text).toContain('src/*.ts may touch src/a.ts, which "b1" owns');
  // What it advises are arguments of this tool.
  expect(overlap.text).toContain("accept the conflict: call spawn with allow_overlap: true");
  expect(overlap.text).not.toContain("ov sling");
  expect((await use(lead, "fleet")).text).toContain("b1 builder");
  expect((await use(lead, "fleet")).text).not.toContain("lead-1 lead");
  expect((await use(lead, "fleet", { scope: "run" })).text).toContain("lead-1 lead");
  const closed = await use(lead, "task_close", { id: "T1" });
  expect(closed.text).toContain("it has code to land");
});

test("a coordinator follows groups, looks at branches and has them landed", async () => {
  await using project = await makeProject();
  for (const id of ["T1", "T2"]) await project.json("task", "create", `Task ${id}`, "--id", id);
  await seat(project, "b1", "builder", { parentName: "coord", branch: "overstory/b1/T1", taskId: "T1", depth: 1 });
  await commitOn(project, "overstory/b1/T1", "new.ts", "export const bell = '\u0007';\n");
  await using coordinator = await connect(project, await seat(project, "coord", "coordinator", { depth: 0 }));
  const made = await use(coordinator, "group_create", { name: "first", tasks: ["T1"] });
  expect(made).toMatchObject({ isError: false, data: { group: { name: "first", tasks: ["T1"] } } });
  await use(coordinator, "group_add", { group: "first", tasks: ["T2"] });
  expect((await use(coordinator, "group_status")).text).toContain("0 of 2 closed");
  await use(coordinator, "group_remove", { group: "first", tasks: ["T2"] });
  expect((await use(coordinator, "group_status", { group: "first" })).text).toContain("0 of 1 closed");

  const branch = "overstory/b1/T1";
  const diff = await use(coordinator, "diff", { branch });
  expect(diff.text).toContain("changes 1 of 1 files:\n+1 -0 new.ts");
  expect(diff.text).toContain("+export const bell = '\\u{7}';");
  expect((await use(coordinator, "diff", { branch, files: ["src"] })).data.files).toEqual([]);
  // L2: what has landed is compared with the branch that it is meant for.
  const landing = "overstory/integration/whole";
  await commitOn(project, landing, "landed.ts", "export const landed = true;\n");
  const landsOn = async (landingBranch: string | null): Promise<void> => {
    const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "process" });
    await store.transaction((tx) => tx.runs.setBranches("run-1", { targetBranch: "main", landingBranch }));
    await store.close();
  };
  await landsOn(landing);
  expect((await use(coordinator, "diff", { branch: landing })).text).toContain(
    "changes 1 of 1 files:\n+1 -0 landed.ts",
  );
  await landsOn(null);
  const nowhere = await use(coordinator, "diff", { branch: "overstory/b1/T9" });
  expect(nowhere.text).toContain('did you mean "overstory/b1/T1"?');
  expect((await use(coordinator, "gates", { branch })).text).toBe(`No gate has run on ${branch}.`);
  const preview = await use(coordinator, "merge_preview", { branch });
  expect(preview).toMatchObject({ isError: false, data: { predictedTier: "clean-merge", target: "main" } });
  const queued = await use(coordinator, "merge", { branch });
  // Without gates nothing is proven, so even what its parent asks for waits for a person.
  expect(queued).toMatchObject({ isError: false, data: { branch, approval: "waiting", added: true } });
  expect(await project.read((tx) => tx.merges.list({}))).toHaveLength(1);
});

test("who cannot go on tells its parent, and a person is asked and answers", async () => {
  await using project = await makeProject();
  const coord = await seat(project, "coord", "coordinator", { depth: 0 });
  const lead = await seat(project, "lead-1", "lead", { parentName: "coord" });
  await using asLead = await connect(project, lead);
  await using asCoordinator = await connect(project, coord);
  const blocked = await use(asLead, "report_blocked", { severity: "critical", context: "no disk", needs: "a disk" });
  expect(blocked).toMatchObject({ isError: false, data: { recipients: ["coord"] } });
  expect((await use(asCoordinator, "inbox", { wait_s: 1 })).text).toContain("| Needed: a disk");
  const asked = await use(asLead, "ask_human", { question: "Which database?", options: ["sqlite", "postgres"] });
  expect(asked).toMatchObject({ isError: false, data: { recipients: ["operator"] } });
  const [gate] = await project.read((tx) => tx.messages.list({ type: "decision_gate" }));
  expect(gate).toMatchObject({ address: "operator", fromAgent: "lead-1", expectsReply: true });
  const sent = await use(asLead, "send", {
    to: "coord",
    type: "decision_gate",
    subject: "Which?",
    body: "a or b",
    payload: { options: ["a", "b"] },
  });
  expect(sent.isError).toBe(false);
  expect(await use(asCoordinator, "decide", { id: sent.data.id, option: "b", note: "faster" })).toMatchObject({
    isError: false,
  });
  const [decision] = await project.read((tx) => tx.messages.list({ type: "decision" }));
  expect(decision).toMatchObject({ fromAgent: "coord", replyTo: sent.data.id });
  expect(await use(asLead, "checkpoint", { progress: "halfway", pending: "tests" })).toMatchObject({ isError: false });
  expect(await project.read((tx) => tx.recovery.checkpoint("lead-1"))).toMatchObject({
    summary: "halfway",
    pending: "tests",
  });
});

test("a coordinator leads its run by tools alone: checklist, other words, a dropped task, proof, and a last review of old evidence", async () => {
  await using project = await makeProject();
  const { runId } = await project.json("coordinator", "start", "--objective", "Read CSV", "--no-attach");
  await project.settled();
  await project.json("stop", "coordinator");
  await using head = await connect(
    project,
    await seat(project, "head", "coordinator", { depth: 0, runId: `${runId}` }),
  );
  await use(head, "criteria_add", { criteria: ["CSV is read"] });
  await use(head, "task_create", { title: "Read CSV", id: "T1", criteria: [1] });
  const early = await use(head, "criteria_amend", { number: 1, text: "anything" });
  expect(early).toMatchObject({ isError: true, text: expect.stringContaining("only after the operator changed") });
  await project.json("run", "change", "the README names CSV", "--run", `${runId}`);
  const amended = await use(head, "criteria_amend", { number: 1, text: "JSON is read" });
  expect(amended.text).toContain("1 [open] JSON is read (T1)");

  const refused = await use(head, "run_complete");
  expect(refused.isError).toBe(true);
  for (const open of ["task T1 is open", "ov task drop T1", "criterion 1 has no proof", "criterion 2 has no proof"]) {
    expect(refused.text).toContain(open);
  }
  expect((await use(head, "task_drop", { id: "T1", reason: "the README has it" })).text).toContain("Dropped T1.");
  const first = await use(head, "criteria_prove", { number: 1, file: "README.md" });
  expect(first.text).toContain("1 [proved] JSON is read (file README.md, unchanged since before this run)");
  expect(first.text).toContain("Nothing shows yet: 2");
  expect(first.text).not.toContain("2 [open]");
  const second = await use(head, "criteria_prove", { number: 2, file: "README.md" });
  expect(second.text).toContain("Every criterion is shown or waived.");
  const done = await use(head, "run_complete");
  expect(done).toMatchObject({ isError: false, data: { runId, status: "active" } });
  expect(done.text).toContain("last-review-1 reads the whole difference");
});
