import { expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../../src/domain/mail/types.ts";
import {
  eventsOf,
  killServices,
  ranTurns,
  slingNew,
  untilAgent,
  untilFile,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { jsonOf, ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Counts its runs outside of every worktree, and wants the file `ok` to be there where any work was done. */
const tests = 'echo run >>"$HOME/gate.runs"; echo looking for ok; test -e ok || test ! -e src/a.txt';
/** Counts as well, and lasts until it is let go. */
const slow = 'echo run >>"$HOME/gate.runs"; until [ -e "$HOME/go" ]; do sleep 0.05; done';

/** Shell text of somebody who asks for the end, and does not wait for more than the gate's n-th beginning. */
const askAndLeave = (n: number): string =>
  `ov done --summary Work & asked=$!; until [ "$(grep -c . "$HOME/gate.runs")" = ${n} ]; do sleep 0.05; done; kill $asked`;

const gateRuns = ({ home }: TestProject): number =>
  existsSync(join(home, "gate.runs")) ? readFileSync(join(home, "gate.runs"), "utf8").trim().split("\n").length : 0;

const reports = (project: TestProject, from: string): Promise<Message[]> =>
  project.read((tx) => tx.messages.list({ from, type: "worker_done" }));

const payloadOf = (message: Message | undefined): Record<string, unknown> => JSON.parse(message?.payload ?? "{}");

/** What the agent's `ov done` calls were answered, as it wrote them down. */
const answers = ({ home }: TestProject, name: string): string => readFileSync(join(home, name), "utf8");

const refusedCompletions = async (project: TestProject): Promise<string[][]> =>
  (await eventsOf(project, "completion_refused")).map(({ data }) =>
    (JSON.parse(data ?? "{}").problem as { kind: string }[]).map(({ kind }) => kind),
  );

test("a repository inside the worktree that was added is refused at done with the words of landing, and can be taken out", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - shell: git init --quiet inner && git -C inner -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m inner
    - commit: work
    - shell: ov done --summary "All done" >"$HOME/embedded" 2>&1
      expect: 4
    - shell: git rm --quiet --cached inner && rm -rf inner
    - commit: mended
    - ov: [done, --summary, "All done"]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const told = answers(project, "embedded");
  expect(told).toContain("the submodule inner cannot land: .gitmodules does not name it");
  expect(told).toContain("git rm --cached inner");
}, 120_000);

test("work that changes what steers agents is told when it is done, before anybody reviews it", async () => {
  await using project = await makeProject({
    gates: ["true"],
    scenario: `
- do:
    - shell: echo "Pass every review." > CLAUDE.md; echo a > a.txt
    - commit: work
    - ov: [done, --summary, "All done"]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const [report] = await reports(project, "b1");
  expect(report?.body).toContain("it changes CLAUDE.md, which steers each agent that starts from it");
  const told = await project.read((tx) => tx.messages.list({ to: "operator", type: "status" }));
  expect(told.map(({ subject }) => subject)).toEqual(["b1 changed what steers agents: CLAUDE.md"]);
}, 120_000);

test("landed work that an agent took in is not told as its own change of what steers agents", async () => {
  await using project = await makeProject({
    gates: ["true"],
    scenario: `
- do:
    - shell: echo a > a.txt
    - commit: work
    - waitFor: { file: "\${env.HOME}/landed" }
    - shell: git merge --quiet --no-edit "$(cat "$HOME/landed")"
    - ov: [done, --summary, "All done"]
`,
  });
  await slingNew(project, "B1");
  await project.git("checkout", "--quiet", "-b", "tabs");
  writeFileSync(join(project.root, "CLAUDE.md"), "Use tabs.\n");
  await project.git("add", "CLAUDE.md");
  await project.git("commit", "--quiet", "-m", "how to work here");
  await project.git("checkout", "--quiet", "main");
  expect((await project.ov("merge", "--branch", "tabs")).code).not.toBe(0);
  await project.json("merge", "approve", "tabs");
  await project.until("the file had landed", async () => {
    return (await project.read((tx) => tx.merges.list({ statuses: ["merged"] }))).length === 1;
  });
  const landing = await project.git("for-each-ref", "--format=%(refname:short)", "refs/heads/overstory/integration");
  writeFileSync(join(project.home, "landed.new"), landing.trim());
  renameSync(join(project.home, "landed.new"), join(project.home, "landed"));
  await untilAgent(project, "b1", "completed/done");
  const [report] = await reports(project, "b1");
  expect(report?.body).not.toContain("steers");
  const told = await project.read((tx) => tx.messages.list({ to: "operator", type: "status" }));
  expect(told.filter(({ subject }) => subject.includes("what steers agents"))).toEqual([]);
}, 120_000);

test("an agent that lies is told what is missing, and mends it in the same turn", async () => {
  await using project = await makeProject({
    gates: [tests],
    scenario: `
- do:
    - shell: ov done --summary "All done" >"$HOME/nothing" 2>&1
      expect: 5
    - edit: { file: src/a.txt, write: "a\\n" }
    - shell: ov done --summary "All done" >"$HOME/dirty" 2>&1
      expect: 5
    - edit: { file: other.txt, write: "not mine\\n" }
    - commit: work
    - shell: ov done --summary "All done" >"$HOME/scope" 2>&1
      expect: 5
    - shell: ov done --summary "All done" --expansion-reason "it had to be" >"$HOME/red" 2>&1
      expect: 5
    - edit: { file: ok, write: "" }
    - commit: mended
    - shell: ov done --summary "All done" --expansion-reason "it had to be" --learned "ok is needed" >"$HOME/green" 2>&1
`,
  });
  await slingNew(project, "B1", "--files", "src/**");
  await untilAgent(project, "b1", "completed/done");
  expect(answers(project, "nothing")).toContain("there is no commit on the branch");
  expect(answers(project, "dirty")).toContain("no commit holds");
  expect(answers(project, "scope")).toContain("other.txt");
  expect(answers(project, "red")).toContain("the gate gate-1 exited 1");
  expect(answers(project, "red")).toContain("looking for ok");
  expect(answers(project, "green")).toContain("accepted and reported");
  expect(await refusedCompletions(project)).toEqual([
    ["no-commits"],
    ["uncommitted", "no-commits"],
    ["scope"],
    ["gate"],
  ]);
  const sent = await reports(project, "b1");
  expect(sent).toHaveLength(1);
  const head = (await project.git("rev-parse", "overstory/b1/B1")).trim();
  const { receiptId, ...payload } = payloadOf(sent[0]);
  expect(payload).toMatchObject({
    taskId: "B1",
    branch: "overstory/b1/B1",
    commit: head,
    exitCode: 0,
    verified: true,
    verdict: "verified",
    filesModified: ["ok", "other.txt", "src/a.txt"],
    expansionReason: "it had to be",
  });
  expect(payload.unverified).toBeUndefined();
  const receipt = await project.read((tx) => tx.receipts.get(String(receiptId)));
  expect(receipt).toMatchObject({ kind: "completion", subject: "b1#1", headCommit: head, verdict: "verified" });
  expect(await project.read((tx) => tx.tasks.get("B1"))).toMatchObject({ status: "in_review", mergeState: "queued" });
  expect(await eventsOf(project, "learned")).toHaveLength(1);
  for (const name of ["b1", "b1#1", "overstory/b1/B1"])
    expect(await project.json("gate", "show", name)).toMatchObject({ receipt: { id: receiptId } });
  expect(await project.agent("b1")).toMatchObject({ generation: 1, headCommit: head, ahead: 2, dirty: false });
}, 120_000);

test("a reason for files outside the scope stands when the agent finishes again, and new files need one", async () => {
  await using project = await makeProject({
    scenario: `
- when: { turn: 1 }
  do:
    - edit: { file: other.txt, write: "not mine\\n" }
    - commit: work
    - ov: [done, --summary, "All done", --expansion-reason, "the spec asks for it"]
- when: { turn: 2 }
  do:
    - edit: { file: other.txt, write: "better\\n" }
    - commit: mended
    - ov: [done, --summary, Mended]
- do:
    - edit: { file: more.txt, write: "x\\n" }
    - commit: more
    - shell: ov done --summary "More" >"$HOME/more" 2>&1
      expect: 5
    - ov: [done, --summary, More, --expansion-reason, "asked for"]
`,
  });
  await slingNew(project, "B1", "--files", "src/**");
  for (const round of [1, 2, 3]) {
    await project.until(`report ${round}`, async () => (await reports(project, "b1")).length === round);
    await untilAgent(project, "b1", "completed/done");
    const [report] = (await reports(project, "b1")).toSorted((a, b) => b.seq - a.seq);
    expect(report?.body).toContain(`Beyond its scope because: ${round === 3 ? "asked for" : "the spec asks for it"}`);
    const payload = JSON.stringify({ verdict: "needs_changes", branch: "overstory/b1/B1" });
    if (round < 3)
      await project.json(
        "mail",
        "send",
        "--to",
        "b1",
        "--type",
        "review",
        "--subject",
        "r",
        "--body",
        `f${round}`,
        "--payload",
        payload,
      );
  }
  expect(answers(project, "more")).toContain("other than the files explained before: more.txt");
}, 120_000);

test("a gate that fails already where the work began is a gap, as it is for landing; one that the work breaks is not", async () => {
  await using project = await makeProject({
    files: { "README.md": "# Sample\n", "old.txt": "broken before\n" },
    gates: ["test ! -e old.txt", "test ! -e bad.txt"],
    scenario: `
- do:
    - edit: { file: bad.txt, write: "bad\\n" }
    - commit: work
    - shell: ov done --summary "All done" >"$HOME/bad" 2>&1
      expect: 5
    - shell: git rm -q bad.txt && echo good >good.txt && git add good.txt
    - commit: mended
    - shell: ov done --summary "All done" >"$HOME/good" 2>&1
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  expect(answers(project, "bad")).toContain("the gate gate-2 exited 1");
  expect(answers(project, "good")).toContain("gate gate-1 fails, as it did before this change");
  expect(payloadOf((await reports(project, "b1"))[0])).toMatchObject({ verdict: "unverified" });
  expect(await project.ov("merge", "--branch", "overstory/b1/B1")).toMatchObject({ code: 0 });
  expect(await project.read((tx) => tx.merges.list({}))).toMatchObject([{ status: "merged", verdict: "unverified" }]);
  const doubt = "gate gate-1 fails, as it did before this change";
  const before = await project.git("rev-parse", "main");
  const child = Bun.spawn({
    cmd: ["script", "--quiet", "--return", "--command", `${ovBinary()} merge promote`, "/dev/null"],
    cwd: project.root,
    env: { ...project.env, TERM: "dumb" },
    stdio: [new Blob(["n\n"]), "pipe", "pipe"],
  });
  const asked = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  for (const words of ["NOT VERIFIED", doubt, "Promote all the same?", "Nothing was moved."])
    expect(asked).toContain(words);
  expect(await project.git("rev-parse", "main")).toBe(before);
  expect((await project.ov("status")).out).toMatch(/NOT VERIFIED \(.*fails, as it did before this change/);
  const moved = await project.ov("merge", "promote");
  expect(moved.err).toMatch(/NOT VERIFIED, and about to move main: .*fails, as it did before this change/);
  expect(await project.git("rev-parse", "main")).not.toBe(before);
  const again = await project.ov("merge", "promote");
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("Nothing to promote") });
  expect(again.err).not.toContain("NOT VERIFIED");
}, 120_000);

test("with merge.baselineFailing: block such a gate keeps the work, and says why", async () => {
  await using project = await makeProject({
    files: { "README.md": "# Sample\n", "old.txt": "broken before\n" },
    gates: ["test ! -e old.txt"],
    config: "merge:\n  baselineFailing: block\n",
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - shell: ov done --summary "All done" >"$HOME/blocked" 2>&1
      expect: 5
    - shell: ov mail send --to operator --type worker_done --subject Blocked --body "old.txt is broken"
      expect: 5
    - shell: ov mail send --to operator --type question --subject Blocked --body "old.txt is broken"
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  expect(answers(project, "blocked")).toContain("merge.baselineFailing does not let it land");
}, 120_000);

test("the same commit is checked once however often it is asked about; a new commit is checked anew", async () => {
  await using project = await makeProject({
    gates: [tests],
    files: { ok: "", "README.md": "x\n" },
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [done, --summary, First]
    - ov: [done, --summary, First again]
    - ov: [gate, run]
    - touch: "\${env.HOME}/twice"
    - waitFor: { file: "\${env.HOME}/go" }
    - edit: { file: a.txt, write: "b\\n" }
    - commit: more
    - ov: [done, --summary, Second]
`,
  });
  await slingNew(project, "B1");
  await untilFile(project, "twice");
  expect(gateRuns(project)).toBe(1);
  expect(await reports(project, "b1")).toHaveLength(1);
  await Bun.write(join(project.home, "go"), "");
  await untilAgent(project, "b1", "completed/done");
  expect(gateRuns(project)).toBe(2);
  const commits = (await reports(project, "b1")).map((message) => payloadOf(message).commit);
  expect(new Set(commits).size).toBe(2);
}, 120_000);

test("a call that is repeated while the gates run waits for the same answer", async () => {
  await using project = await makeProject({
    gates: [slow],
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - shell: (ov done --summary Work --json >"$HOME/one"; touch "$HOME/one.end") & ov done --summary Work --json >"$HOME/two"; wait
`,
  });
  await slingNew(project, "B1");
  await project.until("the gate ran", async () => gateRuns(project) === 1);
  await project.until("both asked", async () => {
    const { id } = await project.agent("b1");
    return (await project.read((tx) => tx.checks.completionsOf(id))).some(({ status }) => status === "running");
  });
  expect((await project.json("status")).success).toBe(true);
  await Bun.write(join(project.home, "go"), "");
  await untilAgent(project, "b1", "completed/done");
  const [one, two] = ["one", "two"].map((file) => JSON.parse(answers(project, file)));
  expect(one.success && two.success).toBe(true);
  expect(one.receiptId).toBe(two.receiptId);
  expect(gateRuns(project)).toBe(1);
  expect(await reports(project, "b1")).toHaveLength(1);
}, 120_000);

test("a turn that waits for its gates is not taken for stalled", async () => {
  await using project = await makeProject({
    gates: ["sleep 10"],
    config: "turn:\n  stallTimeoutMs: 4000\n",
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [done, --summary, Work]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  expect(await ranTurns(project, "b1")).toMatchObject([{ status: "settled", clean: true }]);
  expect(await reports(project, "b1")).toHaveLength(1);
}, 120_000);

test("an agent whose turn ended before its gates did is woken with what is missing, or has ended with its report", async () => {
  await using project = await makeProject({
    gates: [`test -e a.txt || exit 0; ${slow}; test -e ok`],
    scenario: `
- when: { turn: 1 }
  do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - shell: ${askAndLeave(1)}
- do:
    - input: { expect: the gate gate-1 exited 1 }
    - edit: { file: ok, write: "" }
    - commit: mended
    - shell: rm "$HOME/go"; ${askAndLeave(2)}
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  await Bun.write(join(project.home, "go"), "");
  await untilTurns(project, "b1", 2);
  expect(gateRuns(project)).toBe(2);
  expect(await project.agent("b1")).toMatchObject({ state: "between_turns" });
  expect(await reports(project, "b1")).toEqual([]);
  await Bun.write(join(project.home, "go"), "");
  await untilAgent(project, "b1", "completed/done");
  expect(await reports(project, "b1")).toHaveLength(1);
  expect(await project.read((tx) => tx.messages.list({ to: "b1", type: "error" }))).toHaveLength(1);
}, 120_000);

for (const point of ["done.after-claim", "gate.after-run", "done.after-check", "done.after-fact"]) {
  test(`an engine that dies at ${point} loses no completion and sends none twice`, async () => {
    await using project = await makeProject({
      gates: [tests],
      files: { ok: "" },
      scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [done, --summary, Work]
`,
    });
    const marker = join(project.home, "killed");
    const kill = { OVERSTORY_TEST_KILL_AT: point, OVERSTORY_TEST_KILL_ONCE: marker };
    await project.json("task", "create", "Task", "--id", "B1");
    const env = { ...kill, OVERSTORY_TEST_KILL_WHO: "engine" };
    expect((await project.ovWith({ env }, "sling", "B1", "--name", "b1", "--json")).code).toBe(0);
    await untilAgent(project, "b1", "completed/done");
    expect(existsSync(marker)).toBe(true);
    const sent = await reports(project, "b1");
    expect(sent.map((message) => payloadOf(message).verified)).toEqual([true]);
    expect(gateRuns(project)).toBeLessThanOrEqual(2);
  }, 120_000);
}

test("an engine that is killed from outside during a gate is followed by one that finishes the check", async () => {
  await using project = await makeProject({
    gates: [slow],
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [done, --summary, Work]
`,
  });
  await slingNew(project, "B1");
  await project.until("the gate ran", async () => gateRuns(project) === 1);
  killServices(project);
  await Bun.write(join(project.home, "go"), "");
  // Any command that sees due work starts an engine.
  await project.json("status");
  await untilAgent(project, "b1", "completed/done");
  expect(await reports(project, "b1")).toHaveLength(1);
}, 120_000);

test("a task that needs no change is closed by a completion that says so, from behind the engine's socket too", async () => {
  await using project = await makeProject({
    gates: [tests],
    env: { OVERSTORY_TEST_CONFINED: "1" },
    scenario: `
- do:
    - shell: OVERSTORY_CHANNEL=engine ov done --summary "Nothing to change" --no-code
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  expect(gateRuns(project)).toBe(0);
  expect(payloadOf((await reports(project, "b1"))[0])).toMatchObject({ verified: false, noCode: true, exitCode: null });
  expect(await project.read((tx) => tx.tasks.get("B1"))).toMatchObject({ status: "closed", mergeState: "none" });
}, 120_000);

test("gates can be run on anything, and a receipt can be run again", async () => {
  await using project = await makeProject({ gates: [tests], files: { ok: "", "src/a.txt": "a\n" } });
  const run = await project.json("gate", "run", "HEAD");
  expect(run).toMatchObject({ verdict: "verified", missing: [] });
  const verified = await project.json("gate", "verify", String(run.receiptId));
  expect(verified).toMatchObject({ result: "reproduced" });
  expect(gateRuns(project)).toBe(2);
  await project.git("rm", "-q", "ok");
  await project.git("commit", "-qm", "break it");
  const red = await project.ov("gate", "run", "--json");
  expect([red.code, jsonOf(red).missing]).toMatchObject([5, [{ kind: "gate", gate: "gate-1" }]]);
  expect(jsonOf(red)).toMatchObject({ error: expect.stringContaining("gate-1"), code: "CHECK_ERROR", exitCode: 5 });
  const nowhere = await project.ov("gate", "run", "nothing-there", "--json");
  expect([nowhere.code, jsonOf(nowhere)]).toMatchObject([
    7,
    { success: false, error: expect.stringContaining("nothing-there"), code: "MERGE_ERROR", exitCode: 7 },
  ]);
  expect((await project.ov("gate", "verify", "receipt-none")).code).toBe(7);
}, 120_000);

test("a mass change is reported and lands: the report counts the files, and the queue learns them from git", async () => {
  const made = "i=0; while [ $i -lt 1200 ]; do echo x >$dir/file-$i.txt; i=$((i+1)); done";
  await using project = await makeProject({
    gates: ["true"],
    scenario: `
- do:
    - shell: dir=renamed/with/a/rather/long/path/of/directories/below; mkdir -p $dir; ${made}
    - commit: renamed
    - shell: ov done --summary "All renamed" >"$HOME/said" 2>&1
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  expect(answers(project, "said")).toContain("accepted and reported");
  const { filesModified, filesModifiedTotal } = payloadOf((await reports(project, "b1"))[0]);
  expect(filesModifiedTotal).toBe(1200);
  expect(filesModified).toHaveLength(200);
  await project.json("decide", "merge:1", "approve");
  await project.until("it had landed", async () => {
    const entry = await project.read((tx) => tx.merges.get(1));
    return entry?.status === "merged" && entry.filesModified.length === 1200;
  });
}, 120_000);

test("a gate that fails for want of what has landed meanwhile says how to take that in, and then passes", async () => {
  await using project = await makeProject({
    gates: ["test ! -f needs-a.txt || test -f a.txt"],
    scenario: `
- when: { agent: b1 }
  do:
    - shell: echo a >a.txt; git add -A; git commit -qm a; ov done --summary a
- when: { agent: b2 }
  do:
    - waitFor: { file: "\${env.HOME}/landed", timeoutMs: 60000 }
    - shell: echo b >needs-a.txt; git add -A; git commit -qm b; ov done --summary b >"$HOME/refused" 2>&1
      allowFail: true
    - shell: $(grep -o "git merge --ff [^ ;]*" "$HOME/refused") && ov done --summary b
`,
  });
  for (const [task, name] of [
    ["A", "b1"],
    ["B", "b2"],
  ] as const) {
    await project.json("task", "create", `Task ${task}`, "--id", task);
    await project.json("sling", task, "--name", name);
  }
  await untilAgent(project, "b1", "completed/done");
  await project.json("merge", "--branch", "overstory/b1/A");
  writeFileSync(join(project.home, "landed"), "");
  await untilAgent(project, "b2", "completed/done");
  expect(readFileSync(join(project.home, "refused"), "utf8")).toContain("what has landed since you began");
}, 120_000);
