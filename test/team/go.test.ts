import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promptsOf, untilTurns } from "../../testkit/lifecycle.ts";
import { jsonOf, ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";

const scenario = '- do: [{ say: "On it." }]\n';

test("one command leads from a plain repository to a coordinator at work", async () => {
  await using project = await makeProject({ scenario, bare: true });
  const flags = ["--runtime", "scripted", "--gate", "true", "--budget-usd", "2.5", "--max-agents", "7", "--yes"];
  const ran = await project.ov("go", "Make it better", ...flags, "--json");
  expect(ran.err).not.toContain("no agent can start");
  expect(ran.err).not.toContain("no quality gate is known");
  expect(jsonOf(ran)).toMatchObject({
    agentName: "coordinator",
    objective: "Make it better",
    initialized: true,
    target: "main",
    limits: { maxAgents: 7, budgetUsd: 2.5, gates: [{ command: "true" }], unverified: "wait" },
    configured: ["project.qualityGates", "agents.maxSessionsPerRun", "runtime.default"],
  });
  // What it made beside the files that are committed, such as the state directory, is not among them.
  const committed = (await project.git("show", "--format=", "--name-only", "HEAD")).trim().split("\n").toSorted();
  const told = ran.err.split("\n").find((line) => line.startsWith("It committed the files that it made"));
  expect(told?.split(": ")[1]?.split(", ").toSorted()).toEqual(committed);
  await untilTurns(project, "coordinator", 1);
  expect(promptsOf(project, "coordinator")[0]).toContain("Make it better");
  expect(await project.json("coordinator", "output")).toMatchObject({ content: "On it." });
  expect((await project.json("config", "get", "budgets.run.usd")).value).toBe(0);
  expect(await project.git("status", "--porcelain")).toBe("");
}, 60_000);

test("a gate is one shell command, whatever signs it holds; repeating the flag gives several", async () => {
  await using project = await makeProject({ scenario });
  const flags = ["--gate", "echo a,b", "--gate", "true", "--yes"];
  const { limits } = await project.json("go", "Make it better", ...flags);
  expect(limits).toMatchObject({ gates: [{ command: "echo a,b" }, { command: "true" }] });
}, 60_000);

test("without a gate it says loudly that each landing will wait, and where to watch", async () => {
  await using project = await makeProject({ scenario });
  const gone = await project.ov("go", "Make it better", "--name", "quiet", "--yes");
  expect(gone.code).toBe(0);
  expect(gone.err).toContain("NO QUALITY GATE");
  expect(gone.err).toContain("--land-unverified");
  expect(gone.err).toContain("no limit (--budget-usd sets one)");
  for (const where of [
    "ov watch",
    "ov status",
    "ov inbox",
    "ov coordinator output -f --name quiet",
    "ov merge promote",
  ]) {
    expect(gone.out).toContain(where);
  }
  const again = await project.ov("go", "More", "--name", "loud", "--land-unverified", "--yes");
  expect(again.err).toContain("branches land all the same");
  expect((await project.json("config", "get", "merge.unverified")).value).toBe("land");
}, 60_000);

test("where nobody can be asked it needs --yes, and leaves no trace without it", async () => {
  await using project = await makeProject({ scenario, bare: true });
  const refused = await project.ov("go", "Make it better", "--json");
  expect(refused.code).toBe(2);
  expect(jsonOf(refused)).toMatchObject({ success: false, code: "VALIDATION_ERROR" });
  expect(existsSync(join(project.root, ".overstory"))).toBe(false);
  expect((await project.ov("go", "x", "--budget-usd", "lots", "--yes")).code).toBe(2);
  expect(existsSync(join(project.root, ".overstory"))).toBe(false);
  const nowhere = await project.ov("go", "x", "--runtime", "scripted", "--target", "nowhere", "--yes");
  expect(nowhere).toMatchObject({ code: 7, err: expect.stringContaining("nothing was changed") });
  expect(existsSync(join(project.root, ".overstory"))).toBe(false);
  expect(existsSync(join(project.root, ".git", "ov-state"))).toBe(false);
});

test("a refusal after the set-up says that the set-up stays", async () => {
  await using project = await makeProject({ scenario, bare: true });
  const refused = await project.ov("go", "x", "--runtime", "scripted", "--name", "operator", "--yes");
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("done before that, and kept: the set-up of this repository");
  expect(refused.err).not.toContain("nothing was changed");
  expect(existsSync(join(project.root, ".overstory"))).toBe(true);
}, 60_000);

test("a budget that is typed belongs to the run it starts, and to no other", async () => {
  await using project = await makeProject({ scenario });
  const cheap = await project.json("go", "Make it better", "--budget-usd", "2.5", "--yes");
  const free = await project.json("go", "Make it even better", "--name", "second", "--yes");
  await untilTurns(project, "second", 1);
  const { budgets } = await project.json("budget");
  const limits = (budgets as { scope: string; subject: string; unit: string; limit: number | null }[])
    .filter(({ scope, unit }) => scope === "run" && unit === "usd")
    .map(({ subject, limit }) => [subject, limit]);
  expect(Object.fromEntries(limits)).toEqual({ [String(cheap.runId)]: 2.5, [String(free.runId)]: null });
  expect((await project.json("config", "get", "budgets.run.usd")).value).toBe(0);
}, 60_000);

test("a second objective while a team works is refused with what to do; both runs are in sight", async () => {
  await using project = await makeProject({ scenario });
  const first = await project.json("go", "Make it better", "--yes");
  const refused = await project.ov("go", "Make it faster", "--yes");
  expect(refused.code).toBe(2);
  for (const words of [
    `coordinator leads run ${first.runId} already, "Make it better"; nothing was started`,
    "ov coordinator send --body",
    "--name <another>",
    "ov coordinator stop",
  ]) {
    expect(refused.err).toContain(words);
  }
  await project.json("go", "Make it faster", "--name", "second", "--yes");
  expect((await project.ov("status")).out).toContain(`Also active: ${first.runId}: Make it better (1 agent`);
  expect(await project.json("status")).toMatchObject({ otherRuns: [{ id: first.runId, liveAgents: 1 }] });
}, 60_000);

test("the next objective right after a run was completed: try again, or do what the refusal says", async () => {
  await using project = await makeProject({ scenario: "- do: [{ sleep: 600000 }]\n" });
  const first = await project.json("go", "Make it better", "--yes");
  await project.until("the coordinator works", async () => (await project.agent("coordinator")).state === "in_turn");
  await project.json("run", "complete", "--force");
  const refused = await project.ov("go", "Make it faster", "--yes", "--json");
  expect(refused.code).toBe(6);
  expect(jsonOf(refused)).toMatchObject({
    error: `coordinator is not done yet with run ${first.runId}, which is completed; nothing was started`,
    hint: expect.stringContaining("ov stop coordinator"),
    retryable: true,
  });
  await project.json("stop", "coordinator", "--yes");
  expect((await project.ov("go", "Make it faster", "--yes")).code).toBe(0);
}, 60_000);

test("- reads the objective from standard input", async () => {
  await using project = await makeProject({ scenario });
  expect((await project.ovWith({ stdin: "" }, "go", "-", "--yes")).err).toContain("nothing was piped in");
  expect((await project.ovWith({ stdin: "Make it better\n" }, "go", "-", "--yes")).code).toBe(0);
  expect((await project.ov("coordinator", "status")).out).toContain("Make it better");
}, 60_000);

test("what is refused leaves no limits behind", async () => {
  await using project = await makeProject({ scenario });
  const terms = ["--land-unverified", "--budget-usd", "3", "--yes"];
  expect((await project.ov("go", "x", "--runtime", "nope", ...terms)).code).toBe(2);
  await project.json("go", "Make it better", "--yes");
  expect((await project.ov("go", "Once more", ...terms)).code).toBe(2);
  expect((await project.json("config", "get", "merge.unverified")).value).toBe("wait");
  expect((await project.json("config", "get", "budgets.run.usd")).value).toBe(0);
}, 60_000);

test("settings that an engine at work does not know are in force for the one that replaces it", async () => {
  await using project = await makeProject({ scenario, env: { OVERSTORY__ENGINE__IDLE_EXIT_MS: "60000" } });
  const { pid } = await project.json("engine", "start");
  await project.json("go", "Make it better", "--yes");
  expect((await project.json("engine", "status")).pid).toBe(pid);
  await project.json("go", "Make it even better", "--name", "second", "--gate", "make check", "--yes");
  await untilTurns(project, "second", 1);
  await project.until("another engine had taken its place", async () => {
    const after = await project.json("engine", "status");
    return after.running === true && after.pid !== pid;
  });
  expect(readFileSync(join(project.root, ".overstory", "config.local.yaml"), "utf8")).toContain("make check");
}, 60_000);

test("at a terminal it asks before the set-up writes anything, and an answer of no leaves no trace", async () => {
  await using project = await makeProject({ scenario, bare: true });
  const before = await project.git("log", "--format=%H");
  const child = Bun.spawn({
    cmd: [
      "script",
      "--quiet",
      "--return",
      "--command",
      `${ovBinary()} go 'Make it better' --runtime scripted --budget-usd 5`,
      "/dev/null",
    ],
    cwd: project.root,
    env: { ...project.env, TERM: "dumb" },
    stdio: [new Blob(["n\n"]), "pipe", "pipe"],
  });
  const shown = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  expect(shown).toContain("on main");
  expect(shown).toContain("$5 for this run");
  expect(shown).toContain("Nothing was changed.");
  expect(existsSync(join(project.root, ".overstory"))).toBe(false);
  expect(existsSync(join(project.root, ".git", "ov-state"))).toBe(false);
  expect(await project.git("log", "--format=%H")).toBe(before);
  expect(await project.git("status", "--porcelain")).toBe("");
});

const red = "echo three tests are red; exit 3";
const gateIs = (command: string) => ({
  OVERSTORY__PROJECT__QUALITY_GATES: JSON.stringify([{ name: "unit", command }]),
});

test("a gate that fails on the target itself is told before the team starts, with its exit code and last lines", async () => {
  await using project = await makeProject({ scenario, env: gateIs(red) });
  const gone = await project.ov("go", "Make it better", "--gate", "no-such-program --all", "--yes");
  expect(gone.code).toBe(0);
  for (const words of [
    "Checking the gates on main",
    "the gate unit exited 3 on main itself",
    "three tests are red",
    "the gate no-such-program --all exited 127 on main itself",
    "ov merge promote warns before main gets it",
  ]) {
    expect(gone.err).toContain(words);
  }
  for (const words of ["type the same again", "or go on all the same"]) expect(gone.err).not.toContain(words);
  await untilTurns(project, "coordinator", 1);
  const [prompt] = promptsOf(project, "coordinator");
  for (const words of ["| On main as it is, before any work:", "the gate unit exited 3", "three tests are red"])
    expect(prompt).toContain(words);
  for (const words of [
    "Started",
    "started all the same, although the gates fail on main",
    "stop it: ov coordinator stop",
    "--gate wrote no-such-program --all to .overstory/config.local.yaml; take it out: ov config set project.qualityGates '[]' --local",
  ]) {
    expect(gone.out).toContain(words);
  }
}, 60_000);

test("where failing gates would let work reach the target unproved, --yes starts nothing", async () => {
  await using project = await makeProject({ scenario, env: gateIs(red) });
  await project.git("branch", "release");
  const flags = ["--target", "release", "--budget-usd", "3", "--yes"];
  const refused = await project.ov("go", "Make it better", ...flags, "--json");
  expect(refused.code).toBe(5);
  for (const words of ["type the same again", "or go on all the same: --no-check-gates"]) {
    expect(refused.err).toContain(words);
  }
  expect(jsonOf(refused)).toMatchObject({
    success: false,
    errorMessage: "the gate unit exited 3 on the target itself",
    gateCheck: { branch: "release", passed: false, gates: [{ gate: "unit", exitCode: 3 }] },
  });
  expect(await project.json("status")).toMatchObject({ agents: [] });
  expect((await project.json("config", "get", "budgets.run.usd")).value).toBe(0);
  const before = await project.json("gate", "list");
  const anyway = await project.json("go", "Make it better", ...flags, "--no-check-gates");
  expect(anyway).toMatchObject({ agentName: "coordinator", gateCheck: { checked: false } });
  expect(await project.json("gate", "list")).toMatchObject({ count: before.count });
}, 60_000);

test("gates that pass on the target are said to, in words and as data", async () => {
  await using project = await makeProject({ scenario, env: gateIs("true") });
  const gone = await project.ov("go", "Make it better", "--yes", "--json");
  expect(gone.err).toContain("The gates pass on main");
  expect(jsonOf(gone)).toMatchObject({ gateCheck: { checked: true, branch: "main", passed: true, failing: [] } });
}, 60_000);

test("go says that the team does not get what is not committed", async () => {
  await using project = await makeProject({ scenario, env: gateIs("true") });
  await Bun.write(join(project.root, "a.txt"), "one\n");
  await project.git("add", "a.txt");
  await project.git("commit", "-qm", "a");
  await Bun.write(join(project.root, "a.txt"), "two\n");
  const gone = await project.ov("go", "Make it better", "--yes");
  expect(gone.err).toContain("1 file of your checkout has changes that are not committed");
}, 60_000);

test("typed in a subdirectory, go counts the changes of the whole checkout, and no file that is as it was", async () => {
  await using project = await makeProject({ scenario, env: gateIs("true") });
  const inside = join(project.root, "docs", "deep");
  await Bun.write(join(inside, "b.txt"), "one\n");
  await Bun.write(join(project.root, "a.txt"), "one\n");
  await project.git("add", "-A");
  await project.git("commit", "-qm", "a");
  const unchanged = await project.ovWith({ cwd: inside }, "go", "Make it better", "--yes");
  expect(unchanged.code).toBe(0);
  expect(unchanged.err).not.toContain("not committed");
  await Bun.write(join(project.root, "a.txt"), "two\n");
  const gone = await project.ovWith({ cwd: inside }, "go", "Make it better", "--name", "second", "--yes");
  expect(gone.err).toContain("1 file of your checkout has changes that are not committed");
}, 60_000);

test("go shows and tries the runtime of each capability before anything starts", async () => {
  await using project = await makeProject({ scenario });
  await project.json("config", "set", "runtime.capabilities.builder", "gemini");
  const env = { PATH: "/usr/bin:/bin" };
  const refused = await project.ovWith({ env }, "go", "Make it better", "--yes");
  expect(refused.code).toBe(3);
  expect(refused.err).toContain("gemini cannot be started here");
  expect(refused.err).toContain("ov config list runtime");
  expect((await project.json("status")).agents).toEqual([]);
  await project.json("config", "set", "runtime.capabilities.builder", "scripted:control");
  expect((await project.ov("go", "Make it better", "--yes")).err).toContain("scripted, builder: scripted:control");
}, 60_000);
