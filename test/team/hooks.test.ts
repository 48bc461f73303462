import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hookEvents } from "../../src/domain/hook/hook.ts";
import { randomIds } from "../../src/host/ids.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { clockAt, eventsOf, slingNew, textIn, untilAgent } from "../../testkit/lifecycle.ts";
import type { OvAnswer } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** A builder that leaves its token where the tests find it, and then waits. */
const scenario = `
- when: { agent: b1 }
  do:
    - shell: printenv OVERSTORY_TOKEN > "$HOME/token"
    - shell: 'until test -e "$HOME/go"; do sleep 0.1; done'
`;

let project: TestProject;
/** Of the turn that runs. */
let token = "";
/** Of a person who took the agent over. */
const personToken = "a person's own";

beforeAll(async () => {
  project = await makeProject({ scenario });
  await slingNew(project, "B1");
  token = (await textIn(project, "token")).trim();
  await giveToken(personToken);
}, 60_000);

async function giveToken(secret: string): Promise<void> {
  const agent = await project.agent("b1");
  const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "command" });
  const row = {
    digest: randomIds.digest(secret),
    agentId: agent.id,
    turnId: null,
    createdAt: Date.now(),
    revokedAt: null,
  };
  await store.transaction((tx) => tx.tokens.insert(row));
  await store.close();
}

afterAll(() => project[Symbol.asyncDispose]());

const hook = (event: string, input: unknown, env: Record<string, string> = {}): Promise<OvAnswer> =>
  project.ovWith({ stdin: typeof input === "string" ? input : JSON.stringify(input), env }, "hook", event);
const agentHook = (event: string, input: unknown, env: Record<string, string> = {}): Promise<OvAnswer> =>
  hook(event, input, { OVERSTORY_TOKEN: personToken, ...env });
const turnHook = (event: string, input: unknown): Promise<OvAnswer> => hook(event, input, { OVERSTORY_TOKEN: token });

/** Whoever looks by this clock looks that much later. */
const inSeconds = (seconds: number): Record<string, string> => clockAt(seconds * 1_000);

const send = (subject: string, ...more: string[]): Promise<Record<string, unknown>> =>
  project.json("mail", "send", "--to", "b1", "--subject", subject, "--body", `about ${subject}`, ...more);

test("after a tool, mail reaches the model as structured context, once", async () => {
  await send("first");
  const answer = await agentHook("post-tool", { tool_name: "Read", tool_input: { file_path: "a.ts" } });
  expect(answer.code).toBe(0);
  const { hookSpecificOutput } = JSON.parse(answer.out);
  expect(hookSpecificOutput).toEqual({ hookEventName: "PostToolUse", additionalContext: expect.any(String) });
  expect(hookSpecificOutput.additionalContext).toContain("| about first");
  expect(await agentHook("post-tool", { tool_name: "Read" }, inSeconds(1))).toEqual({ code: 0, out: "", err: "" });
});

test("a tool that hooks saw is on record with its id, what it was used on, and how long it took", async () => {
  const call = { tool_name: "Bash", tool_use_id: "toolu_7", session_id: "s7", tool_input: { command: "ls\n-l" } };
  const facts = { tool: "Bash", id: "toolu_7", summary: "ls -l", sessionId: "s7" };
  await agentHook("pre-tool", call);
  await agentHook("post-tool", { ...call, duration_ms: 273 }, inSeconds(1));
  const ofCall = async (type: string) =>
    (await eventsOf(project, type)).map(({ data }) => JSON.parse(data ?? "null")).filter(({ id }) => id === "toolu_7");
  const inputDigest = randomIds.digest(JSON.stringify(call.tool_input));
  expect(await ofCall("tool_start")).toEqual([{ ...facts, input: call.tool_input, inputDigest }]);
  expect(await ofCall("tool_end")).toEqual([{ ...facts, durationMs: 273 }]);
});

test("mail waits for the session itself: a helper that it started does not get it", async () => {
  await send("for the session");
  const later = inSeconds(60);
  const helper = { tool_name: "Read", agent_id: "a1b2", agent_type: "general-purpose" };
  for (const event of ["post-tool", "user-prompt", "stop"]) {
    expect(await agentHook(event, helper, later)).toEqual({ code: 0, out: "", err: "" });
  }
  expect((await agentHook("post-tool", { tool_name: "Read" }, later)).out).toContain("| about for the session");
});

test("mail that comes right after some was handed over waits for the next look", async () => {
  for (let second = 2; second < 40; second += 2) {
    await send(`second ${second}`);
    expect((await agentHook("user-prompt", { prompt: "hi" }, inSeconds(second))).out).toContain("about second");
    const last = (await project.read((tx) => tx.inboxChecks.last("b1"))) ?? 0;
    await send(`third ${second}`);
    const look = await agentHook("post-tool", { tool_name: "Read" }, inSeconds(second));
    if (look.out !== "") {
      // This machine was too slow for it to be right after, and may be faster the next time.
      expect(Date.now() + second * 1_000 - last).toBeGreaterThanOrEqual(500);
      continue;
    }
    const answer = await agentHook("user-prompt", { prompt: "hi" }, inSeconds(second + 1));
    expect(JSON.parse(answer.out).hookSpecificOutput.hookEventName).toBe("UserPromptSubmit");
    expect(answer.out).toContain("about third");
    return;
  }
});

test("a stop with mail that should wake it goes on; not a second time, and not for mail that can wait", async () => {
  await send("by the way", "--type", "status", "--priority", "low");
  expect((await agentHook("stop", { stop_hook_active: false })).out).toBe("");
  await send("now", "--type", "question");
  expect((await agentHook("stop", { stop_hook_active: true })).out).toBe("");
  const answer = await agentHook("stop", { stop_hook_active: false });
  expect(answer.code).toBe(0);
  const said = JSON.parse(answer.out);
  expect(said).toEqual({ decision: "block", reason: expect.stringContaining("about now") });
  expect(said.reason).toContain("about by the way");
  expect((await agentHook("stop", { stop_hook_active: false })).out).toBe("");
});

test("in a turn hooks hand nothing over and keep nothing from ending: its mail comes as its input", async () => {
  await send("in the turn", "--type", "question");
  for (const event of ["session-start", "user-prompt", "post-tool", "stop"]) {
    expect(await turnHook(event, {})).toEqual({ code: 0, out: "", err: "" });
  }
  expect((await agentHook("stop", {})).out).toContain("about in the turn");
});

test("a turn's guard goes by the rules that were written for it, and needs no database to allow", async () => {
  const rules = statePath(project.root, "agents", "b1", "guard.json");
  const { worktreePath } = await project.agent("b1");
  expect(JSON.parse(readFileSync(rules, "utf8"))).toMatchObject({ agent: "b1", worktree: worktreePath });
  const guard = (command: string, file = rules, env = {}): Promise<OvAnswer> => {
    const stdin = JSON.stringify({ tool_name: "Bash", tool_input: { command }, cwd: worktreePath });
    const call = { stdin, env: { OVERSTORY_TOKEN: token, ...env } };
    return project.ovWith(call, "hook", "pre-tool", "--rules", file);
  };
  const elsewhere = { OVERSTORY_PROJECT_ROOT: join(project.home, "nowhere") };
  const allowed = { code: 0, out: expect.stringContaining('"permissionDecision":"allow"'), err: "" };
  expect(await guard("git status", rules, elsewhere)).toEqual(allowed);
  expect((await guard("git push", rules, elsewhere)).code).toBe(2);
  const before = (await eventsOf(project, "guard_denied")).length;
  expect(await guard(`echo x > ${project.root}/README.md`)).toMatchObject({ code: 2, out: "" });
  const [event] = (await eventsOf(project, "guard_denied")).slice(before);
  expect(event).toMatchObject({ agentName: "b1", source: "hook", level: "warn" });
  expect(event?.turnId).not.toBeNull();
  expect(await project.json("guard", "explain", String(event?.seq))).toMatchObject({
    agentName: "b1",
    tool: "Bash",
    ruleId: "boundary",
    of: `> ${project.root}/README.md`,
    reason: expect.stringContaining("outside your worktree"),
    instead: expect.any(String),
  });
  expect((await project.ov("guard", "explain", String(event?.seq))).out).toContain("rule:        boundary");
  expect((await guard("git status", `${rules}.gone`)).code).toBe(2);
  const file = { tool_name: "Write", tool_input: { file_path: "a.txt", content: "x" }, cwd: worktreePath };
  const written = await project.ovWith({ stdin: JSON.stringify(file), env: {} }, "hook", "pre-tool", "--rules", rules);
  expect(written).toEqual(allowed);
});

test("rules that are not those the turn began with deny everything, in turns and at a terminal", async () => {
  const rules = statePath(project.root, "agents", "b1", "guard.json");
  const text = readFileSync(rules, "utf8");
  const digest = randomIds.digest(text);
  const stdin = JSON.stringify({ tool_name: "Bash", tool_input: { command: "git status" }, cwd: project.root });
  const inTurn = () =>
    project.ovWith(
      { stdin, env: { OVERSTORY_TOKEN: token } },
      ..."hook pre-tool --digest".split(" "),
      digest,
      "--rules",
      rules,
    );
  const atTerminal = () =>
    project.ovWith({ stdin, env: { OVERSTORY_TOKEN: personToken } }, ..."hook pre-tool --digest".split(" "), digest);
  expect([(await inTurn()).code, (await atTerminal()).code]).toEqual([0, 0]);
  try {
    writeFileSync(rules, JSON.stringify({ ...JSON.parse(text), worktree: "/" }));
    const denied = [await inTurn(), await atTerminal()];
    expect(denied.map(({ code }) => code)).toEqual([2, 2]);
    expect(denied.map(({ err }) => err).join()).toContain("not those its turn began with");
  } finally {
    writeFileSync(rules, text);
  }
});

test("an agent's tools are guarded: exit 2 with the reason, on record", async () => {
  const known = (await eventsOf(project, "guard_denied")).length;
  const denied = await agentHook("pre-tool", { tool_name: "Bash", tool_input: { command: "git -C . push" } });
  expect(denied).toMatchObject({ code: 2, out: "" });
  expect(denied.err).toContain("ov done");
  expect((await agentHook("pre-tool", { tool_name: "Agent", tool_input: {} })).code).toBe(2);
  expect(await agentHook("pre-tool", { tool_name: "Bash", tool_input: { command: "git status" } })).toEqual({
    code: 0,
    out: "",
    err: "",
  });
  expect((await agentHook("pre-tool", "not json")).code).toBe(2);
  const events = await eventsOf(project, "guard_denied");
  expect(events.slice(known).map(({ agentName, data }) => [agentName, JSON.parse(data ?? "{}").rule])).toEqual([
    ["b1", "git-push"],
    ["b1", "team-tools"],
    ["b1", "unreadable"],
  ]);
});

test("a guard that cannot do its work denies an agent, and lets a person work", async () => {
  const tool = { tool_name: "Bash", tool_input: { command: "ls" } };
  const broken = { OVERSTORY_PROJECT_ROOT: join(project.home, "nowhere") };
  expect((await hook("pre-tool", tool, { ...broken, OVERSTORY_TOKEN: token })).code).toBe(2);
  expect((await hook("pre-tool", tool, broken)).code).toBe(1);
  expect((await hook("pre-tool", tool, { OVERSTORY_TOKEN: "made up" })).code).toBe(2);
  expect((await hook("stop", {}, { OVERSTORY_TOKEN: "made up" })).code).toBe(1);
});

test("a person's session starts with where the project stands, and is told what its agents write", async () => {
  const start = await hook("session-start", { source: "startup" });
  expect(start.out).toContain("# sample");
  expect(start.out).toContain("Next:");
  expect((await hook("session-start", { source: "compact" })).out).not.toContain("Next:");
  const sent = await project.ovWith(
    { env: { OVERSTORY_TOKEN: token } },
    ...["mail", "send", "--to", "orchestrator", "--type", "question", "--subject", "Which", "--body", "this or that"],
  );
  expect(sent.code).toBe(0);
  const stop = await hook("stop", {});
  expect(JSON.parse(stop.out)).toMatchObject({ decision: "block", reason: expect.stringContaining("| this or that") });
  expect(await hook("pre-tool", { tool_name: "Bash", tool_input: { command: "git push" } })).toMatchObject({ code: 0 });
  for (const event of ["pre-compact", "session-end"]) expect((await hook(event, {})).out).toBe("");
  expect(await eventsOf(project, "session_end")).toMatchObject([{ agentName: "operator", source: "hook" }]);
});

const settings = (): string => join(project.root, ".claude", "settings.local.json");

test("hooks come and go without touching a byte of the user's own settings", async () => {
  const users =
    '{\n    // local\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}\n}';
  mkdirSync(join(project.root, ".claude"), { recursive: true });
  writeFileSync(settings(), users);
  chmodSync(settings(), 0o600);
  expect(await project.json("hooks", "status")).toMatchObject({ sourceExists: true, installed: false });
  expect(await project.json("hooks", "install")).toMatchObject({ changed: true });
  expect(await project.json("hooks", "status")).toMatchObject({ sourceExists: true, installed: true });
  const after = readFileSync(settings(), "utf8");
  for (const event of hookEvents) expect(after).toContain(`"ov hook ${event}"`);
  expect(after).toContain('    // local\n    "model": "opus",\n');
  expect(await project.json("hooks", "install")).toMatchObject({ changed: false });
  expect(statSync(settings()).mode & 0o777).toBe(0o600);
  expect(await project.json("hooks", "uninstall")).toMatchObject({ changed: true });
  expect(readFileSync(settings(), "utf8")).toBe(users);
  expect(await project.json("hooks", "uninstall")).toMatchObject({ changed: false });

  await project.json("hooks", "install");
  writeFileSync(settings(), readFileSync(settings(), "utf8").replace('"opus"', '"haiku"'));
  await project.json("hooks", "uninstall");
  expect(readFileSync(settings(), "utf8")).toBe(users.replace('"opus"', '"haiku"'));
});

test("an entry of ours that was changed is written anew when asked to", async () => {
  writeFileSync(settings(), "{}\n");
  await project.json("hooks", "install");
  writeFileSync(settings(), readFileSync(settings(), "utf8").replace('"timeout": 30', '"timeout": 1'));
  expect(await project.json("hooks", "install")).toMatchObject({ changed: false });
  expect(await project.json("hooks", "install", "--force")).toMatchObject({ changed: true });
  expect(readFileSync(settings(), "utf8")).not.toContain('"timeout": 1,');
  rmSync(settings());
});

test("a file that we made goes again, and one that is broken is refused with its place, untouched", async () => {
  await project.json("hooks", "install");
  expect(existsSync(settings())).toBe(true);
  await project.json("hooks", "uninstall");
  expect(existsSync(settings())).toBe(false);
  const broken = '{\n  "hooks": {\n    oops\n}';
  writeFileSync(settings(), broken);
  for (const command of ["install", "uninstall", "status"]) {
    const answer = await project.ov("hooks", command);
    expect(answer.code).toBe(2);
    expect(answer.err).toContain("line 3");
  }
  expect(readFileSync(settings(), "utf8")).toBe(broken);
  rmSync(settings());
});

test("a file or a dangling link in the place of their directory is named, and nothing is changed", async () => {
  const dir = join(project.root, ".claude");
  rmSync(dir, { recursive: true, force: true });
  for (const put of [() => writeFileSync(dir, "a file\n"), () => symlinkSync("nowhere", dir)]) {
    put();
    for (const command of ["install", "uninstall", "status"]) {
      const answer = await project.ov("hooks", command);
      expect({ command, code: answer.code }).toEqual({ command, code: 2 });
      expect(answer.err).toContain(`${dir} must be a directory`);
    }
    expect(existsSync(statePath(project.root, "run", "hooks-before.json"))).toBe(false);
    rmSync(dir);
  }
});

test("hooks are the operator's to install", async () => {
  const answer = await project.ovWith({ env: { OVERSTORY_TOKEN: token } }, "hooks", "install");
  expect(answer.code).toBe(8);
  expect(existsSync(settings())).toBe(false);
});

test("an agent whose turn is over uses no tools", async () => {
  writeFileSync(join(project.home, "go"), "");
  await untilAgent(project, "b1", "between_turns", "completed");
  expect((await turnHook("pre-tool", { tool_name: "Read", tool_input: {} })).code).toBe(2);
}, 120_000);
