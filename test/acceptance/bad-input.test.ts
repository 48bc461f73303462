import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brokenLinesIn } from "../../testkit/command-lines.ts";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { type Expected, expectRefusal, stateOf } from "./refusal.world.ts";

const usage = (says: string): Expected => ({ exit: 2, code: "VALIDATION_ERROR", says });
const missing = (code: string, says: string): Expected => ({ exit: 7, code, says });
const mail = ["mail", "send", "--to", "operator", "--subject", "s", "--body", "b"];

const lines: readonly (readonly [what: string, args: readonly string[], expected: Expected])[] = [
  ["an unknown command", ["frobnicate"], usage("frobnicate")],
  ["an unknown command near a known one", ["satus"], usage("satus")],
  ["an unknown sub-command", ["mail", "sned"], usage("sned")],
  ["a missing sub-command", ["mail"], usage("needs a command")],
  ["an unknown flag", [...mail, "--loud"], usage("--loud")],
  ["an unknown flag near a known one", ["mail", "send", "--too", "x"], usage("--too")],
  ["an unknown mail type", [...mail, "--type", "stauts"], usage("--type must be one of")],
  ["an unknown priority", [...mail, "--priority", "asap"], usage("--priority must be one of")],
  ["an unknown group address", ["mail", "send", "--to", "@nobody", "--subject", "s", "--body", "b"], usage("@nobody")],
  ["a recipient that cannot be a name", ["mail", "send", "--to", "a b", "--subject", "s", "--body", "b"], usage("a b")],
  [
    "a group without members",
    ["mail", "send", "--to", "@builders", "--subject", "s", "--body", "b"],
    { exit: 2, code: "MAIL_ERROR", says: "reaches no agent" },
  ],
  [
    "an unknown agent when names are strict",
    ["mail", "send", "--to", "ghost", "--subject", "s", "--body", "b", "--strict"],
    missing("AGENT_ERROR", "ghost"),
  ],
  ["an unknown agent to brief", ["prime", "--agent", "ghost"], missing("AGENT_ERROR", "ghost")],
  ["an unknown parent", ["sling", "T1", "--parent", "ghost"], missing("AGENT_ERROR", "ghost")],
  ["an unknown capability", ["sling", "T1", "--capability", "wizard"], usage("--capability must be one of")],
  ["a name that cannot be one", ["sling", "T1", "--name", "Big Bird"], usage("Big Bird")],
  ["an unknown task to sling", ["sling", "nope"], missing("TASK_ERROR", "nope")],
  ["an unknown task to show", ["task", "show", "T9"], missing("TASK_ERROR", "T9")],
  ["an unknown task to close", ["task", "close", "nope"], missing("TASK_ERROR", "nope")],
  ["a task that would wait for itself", ["task", "dep", "add", "T1", "T1"], { ...usage("T1"), code: "TASK_ERROR" }],
  ["a priority out of range", ["task", "update", "T1", "--priority", "9"], usage("0 (most urgent) to 4")],
  ["a file above the project", ["task", "create", "x", "--files", "a.ts,../x"], usage("../x")],
  ["a file of the system", ["task", "create", "x", "--files", "/etc/passwd"], usage("/etc/passwd")],
  ["a file of the home", ["task", "update", "T1", "--files", "~/x"], usage("~/x")],
  ["an unknown run to join", ["sling", "T1", "--run", "run-nope"], missing("LIFECYCLE_ERROR", "run-nope")],
  ["a task without a title", ["task", "create"], usage("title")],
  ["a spec nobody wrote", ["spec", "read", "T1"], missing("VALIDATION_ERROR", "T1")],
  ["an unknown config key to read", ["config", "get", "agents.nope"], usage("agents.nope")],
  ["an unknown config key to write", ["config", "set", "nope.key", "3"], usage("nope.key")],
  ["an unknown config key to explain", ["config", "explain", "nope"], usage("nope")],
  ["an unknown config section", ["config", "list", "nope"], usage("nope")],
  ["a config value of the wrong type", ["config", "set", "agents.maxDepth", "deep"], usage("agents.maxDepth")],
  ["an unknown task group", ["group", "status", "nope"], missing("GROUP_ERROR", "nope")],
  ["an unknown task group to extend", ["group", "add", "nope", "T1"], missing("GROUP_ERROR", "nope")],
  ["an unknown task in a new group", ["group", "create", "g", "nope"], missing("TASK_ERROR", "nope")],
  ["an unknown run", ["run", "show", "nope"], missing("LIFECYCLE_ERROR", "nope")],
  ["no run to complete", ["run", "complete"], missing("LIFECYCLE_ERROR", "no run is active")],
  ["an unknown message to read", ["mail", "read", "nope"], missing("MAIL_ERROR", "nope")],
  ["an unknown message to answer", ["mail", "reply", "nope", "--body", "b"], missing("MAIL_ERROR", "nope")],
  ["an unknown message to explain", ["mail", "why", "nope"], missing("MAIL_ERROR", "nope")],
  ["an unknown message to follow", ["mail", "status", "nope"], missing("MAIL_ERROR", "nope")],
  ["an unknown message to retry", ["mail", "retry", "nope"], missing("MAIL_ERROR", "nope")],
  ["a purge of nothing in particular", ["mail", "purge"], usage("--all, --days or --agent")],
  ["a missing value", ["mail", "send", "--to"], usage("--to needs a value")],
  ["a missing required flag", ["mail", "send", "--to", "operator", "--subject", "s"], usage("--body")],
  ["a missing argument", ["task", "show"], usage("<task-id>")],
  ["too many arguments", ["task", "show", "T1", "T2"], usage("one too many")],
  ["a payload that is no JSON", [...mail, "--payload", "{oops"], usage("--payload must be valid JSON")],
  ["a payload of the wrong shape", [...mail, "--type", "worker_done", "--payload", "[1]"], usage("JSON object")],
  ["a number below the smallest", ["mail", "list", "--limit", "0"], usage("--limit must be 1 or more")],
  ["a number that is none", ["mail", "list", "--limit", "few"], usage("--limit")],
  ["an unknown shell", ["completions", "tcsh"], usage("tcsh")],
  // For a hook the exit code of wrong usage would forbid a tool.
  ["an unknown hook event", ["log", "nope"], { ...usage("nope"), exit: 1 }],
  ["an unknown format", ["status", "--format", "xml"], usage("--format must be one of")],
];

test("every unusable command line is refused with its exit code, one document, a hint that helps, and no trace", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "A task", "--id", "T1");
  const before = stateOf(project.root);
  for (const [what, args, expected] of lines) {
    await expectRefusal(project.ov, args, expected).catch((cause: unknown) => {
      throw new Error(`${what}: ${String(cause)}`, { cause });
    });
    expect({ what, state: stateOf(project.root) }).toEqual({ what, state: before });
  }
  expect(project.processes()).toEqual([]);
}, 240_000);

test("a refused sling leaves no copy of the caller's environment behind", async () => {
  await using project = await makeProject();
  expect((await project.ov("sling", "nope")).code).toBe(7);
  const kept = statePath(project.root, "run", "env");
  expect(existsSync(kept) ? readdirSync(kept) : []).toEqual([]);
});

test("a forged identity is refused, and so is one for the operator's commands", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "A task", "--id", "T1");
  const before = stateOf(project.root);
  const forged = (...args: string[]) => project.ovWith({ env: { OVERSTORY_TOKEN: "forged" } }, ...args);
  const expected = { exit: 8, code: "PERMISSION_ERROR", says: "OVERSTORY_TOKEN" };
  for (const args of [["status"], ["mail", "check"], ["task", "list"]]) await expectRefusal(forged, args, expected);
  expect(stateOf(project.root)).toEqual(before);
  await expectRefusal(forged, ["task", "close", "T1"], expected);
  expect(await project.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "open" });
});

test("every command that a refusal or a failure advises can be typed as it stands", async () => {
  for (const table of ["refusals.ts", "agent-refusals.ts", "failures.ts"]) {
    const source = await Bun.file(join(import.meta.dir, "../../src/surfaces/shared", table)).text();
    // Filled in, a template is one word, or behind `complete` a flag; what stands between quotes is one advice.
    const filled = source.replaceAll(/(?<=complete)\$\{[^}]*\}/g, " --run x").replaceAll(/\$\{[^}]*\}/g, "x");
    const advice = [...filled.matchAll(/(?:hint|advice|const ask)\b[^"`]*(["`])(.*?)\1/g)];
    const texts = advice.map(([, , text = ""]) => text);
    expect(texts.filter((text) => text.includes("ov ")).length).toBeGreaterThan(3);
    expect(texts.flatMap(brokenLinesIn)).toEqual([]);
  }
});
