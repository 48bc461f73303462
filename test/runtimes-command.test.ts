import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockAt, moveClock, ranTurns, slingNew, untilTurns } from "../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";

interface Finding {
  readonly runtime: string | null;
  readonly check: string;
  readonly level: string;
  readonly says: string;
  readonly next: string | null;
}

/** A program that stands for Claude Code, with a login or without. */
function placeClaude(project: TestProject, { loggedIn }: { readonly loggedIn: boolean }): void {
  const bin = join(project.home, "bin");
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\n[ "$1" = --version ] && { echo "9.9.9 (Claude Code)"; exit 0; }\nexit ${loggedIn ? 0 : 1}\n`;
  writeFileSync(join(bin, "claude"), script, { mode: 0o755 });
}

/** A PATH with what our own program and git need, and no agent CLI. */
const shell = (project: TestProject, more: Record<string, string> = {}) => ({
  env: { PATH: `${join(project.home, "bin")}:/usr/bin:/bin`, ...more },
});

async function examined(project: TestProject, more: Record<string, string>, ...words: string[]) {
  const { code, out } = await project.ovWith(shell(project, more), "runtimes", "doctor", ...words, "--json");
  const said = JSON.parse(out);
  const of = (check: string): Finding | undefined => said.findings.find((one: Finding) => one.check === check);
  return { code, said, of, out };
}

test("doctor says what keeps agents from working, with the command to type, and nothing once it is mended", async () => {
  await using project = await makeProject();
  await project.json("config", "set", "runtime.default", "claude");
  const missing = await examined(project, {});
  expect(missing.code).toBe(5);
  expect(missing.of("program")).toMatchObject({ level: "bad", next: expect.stringContaining("claude --version") });

  placeClaude(project, { loggedIn: false });
  const stranger = await examined(project, {});
  expect(stranger.code).toBe(5);
  expect(stranger.of("program")).toMatchObject({ level: "ok", says: expect.stringContaining("9.9.9") });
  expect(stranger.of("login")).toMatchObject({ level: "bad", next: expect.stringContaining("claude auth login") });
  const told = await project.ovWith(shell(project), "runtimes", "doctor");
  expect(told).toMatchObject({ code: 5, out: expect.stringContaining("claude auth login") });

  placeClaude(project, { loggedIn: true });
  const healthy = await examined(project, {});
  expect([healthy.code, healthy.said.healthy]).toEqual([0, true]);
  expect(healthy.of("guard")).toMatchObject({ level: "ok" });
}, 120_000);

test("doctor names the variables that agents do not get, and no value of any", async () => {
  await using project = await makeProject();
  placeClaude(project, { loggedIn: false });
  const secrets = { ANTHROPIC_API_KEY: "sk-ant-planted-1", DATABASE_PASSWORD: "planted-2", EDITOR: "planted-3" };
  const { code, said, out, of } = await examined(project, secrets, "claude");
  expect(code).toBe(0);
  expect(of("login")).toMatchObject({ level: "ok", says: "by ANTHROPIC_API_KEY" });
  expect(said.dropped).toEqual(expect.arrayContaining(["DATABASE_PASSWORD", "EDITOR"]));
  expect(said.dropped).not.toContain("ANTHROPIC_API_KEY");
  expect(out).not.toContain("planted-");
}, 120_000);

test("doctor tells that the token of a gateway is not in this shell", async () => {
  const corner = "{type: gateway, baseUrl: 'http://127.0.0.1:9', authTokenEnv: CORNER_PASS}";
  await using project = await makeProject({ config: `models: {scout: corner/m}\nproviders: {corner: ${corner}}\n` });
  await project.json("config", "set", "runtime.capabilities.scout", "claude");
  placeClaude(project, { loggedIn: true });
  const { code, said } = await examined(project, {});
  expect(code).toBe(5);
  expect(said.findings).toContainEqual(
    expect.objectContaining({ runtime: "claude", check: "model", level: "bad", next: "export CORNER_PASS=<token>" }),
  );
  expect((await examined(project, { CORNER_PASS: "x" })).code).toBe(0);
}, 120_000);

test("list and probe show every runtime and driver, and start no agent", async () => {
  await using project = await makeProject();
  const { runtimes } = await project.json("runtimes", "list");
  expect((runtimes as { runtime: string }[]).map(({ runtime }) => runtime)).toEqual(
    expect.arrayContaining(["claude", "codex", "gemini", "copilot", "pi", "opencode", "scripted"]),
  );
  expect(runtimes).toContainEqual(
    expect.objectContaining({
      runtime: "claude",
      guarded: true,
      drivers: [
        expect.objectContaining({ driver: "stream-json", steer: false, resume: true }),
        expect.objectContaining({ driver: "control", steer: true }),
      ],
    }),
  );
  expect((await project.ov("runtimes", "list")).out).toContain("claude:control");
  placeClaude(project, { loggedIn: true });
  const { out } = await project.ovWith(shell(project), "runtimes", "probe", "claude", "codex", "--json");
  expect(JSON.parse(out).runtimes).toMatchObject([
    { runtime: "claude", version: "9.9.9", login: true, loginBy: "claude auth status", quota: null },
    { runtime: "codex", version: null, problem: "codex is not on the PATH" },
  ]);
  rmSync(join(project.home, "bin/claude"));
  const unknown = await project.ovWith(shell(project), "runtimes", "probe", "cladue");
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("claude") });
}, 120_000);

test("probe shows the newest limit of a provider, and when it ends; doctor warns while it lasts", async () => {
  await using project = await makeProject({
    scenario: `
- when: { attempt: 1, turn: 1 }
  do: [{ rateLimit: { resetInMs: 600000 } }]
- do: [{ ov: [done, --no-code, --summary, d] }]
`,
  });
  const quota = async () => {
    const { runtimes } = await project.json("runtimes", "probe", "scripted");
    return (runtimes as { quota: { agent: string; seenAt: string; resetAt: string; said: string } | null }[])[0]?.quota;
  };
  const doctored = async (env: Record<string, string> = {}) =>
    (await project.ovWith({ env }, "runtimes", "doctor", "scripted")).out;
  expect(await quota()).toBeNull();
  expect(await doctored()).not.toContain("quota");

  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const [limited] = await ranTurns(project, "b1");
  const known = await quota();
  expect(known).toMatchObject({
    agent: "b1",
    seenAt: new Date(limited?.endedAt ?? 0).toISOString(),
    said: limited?.error,
  });
  const lasts = Date.parse(known?.resetAt ?? "") - (limited?.startedAt ?? 0);
  expect(lasts).toBeGreaterThanOrEqual(600_000);
  expect(lasts).toBeLessThan(700_000);
  const { out } = await project.ov("runtimes", "probe", "scripted");
  expect(out).toMatch(/^scripted: last limit met by b1 at .*; over at /m);
  expect(await doctored()).toContain("quota: ");

  await moveClock(project, 702_000);
  await untilTurns(project, "b1", 2);
  expect(await quota()).toEqual(known);
  expect(await doctored(clockAt(702_000))).not.toContain("quota");
}, 120_000);

test("a program that is broken, no program, silent or asks for something is named as that, in 80 columns", async () => {
  await using project = await makeProject();
  const bin = join(project.home, "bin");
  mkdirSync(bin, { recursive: true });
  const place = (name: string, text: string): void => writeFileSync(join(bin, name), text, { mode: 0o755 });
  place("codex", "#!/bin/sh\necho a library is missing >&2\nexit 127\n");
  place("opencode", "no program");
  place("pi", "#!/bin/sh\nexit 0\n");
  place("gemini", "#!/bin/sh\necho 'Enter your key:'; read -r key || exit 4\n");
  const { out } = await project.ovWith(shell(project), "runtimes", "probe", "--json");
  const of = (runtime: string) => JSON.parse(out).runtimes.find((one: { runtime: string }) => one.runtime === runtime);
  expect(of("codex")).toMatchObject({
    version: null,
    login: null,
    problem: expect.stringContaining("a library is missing"),
  });
  expect(of("opencode").problem).toEndWith("it is not a program that this system can run");
  expect(of("pi")).toMatchObject({ version: "unknown", problem: null });
  expect(of("gemini").problem).toEndWith("it exited with 4");
  expect(of("copilot")).toMatchObject({ login: null, problem: "copilot is not on the PATH" });
  const longer = await project.ovWith(shell(project), "runtimes", "doctor", "gemini:acp", "--json");
  expect(JSON.parse(longer.out).runtimes).toMatchObject([{ runtime: "gemini" }]);
  const list = await project.ov("runtimes", "list");
  for (const line of list.out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
}, 120_000);
