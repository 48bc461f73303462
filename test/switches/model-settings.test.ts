import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ranTurns, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/**
 * Programs that stand for the real ones: each turn they write down how they were started, ask the operator something, and
 * end well, in the words of Claude Code or of Pi.
 */
const ending = {
  claude: `printf '%s\\n' '{"type":"system","subtype":"init","session_id":"s","permissionMode":"default"}' '{"type":"result","is_error":false,"result":"ok","session_id":"s"}'`,
  pi: `printf '%s\\n' '{"type":"session","id":"s"}' '{"type":"agent_end","messages":[]}'`,
};

async function projectWith(config: string, set: Readonly<Record<string, string>>): Promise<TestProject> {
  const project = await makeProject({ config });
  for (const [key, value] of Object.entries(set)) await project.json("config", "set", key, value);
  mkdirSync(join(project.home, "bin"));
  for (const [name, words] of Object.entries(ending)) {
    const script = `#!/bin/sh
[ "$1" = --version ] && { echo 9.9.9; exit 0; }
cat > /dev/null
n=$(ls "$HOME" | grep -c "^$OVERSTORY_AGENT_NAME-.*argv")
printf '%s\\n' "$@" > "$HOME/$OVERSTORY_AGENT_NAME-$n.argv"
env > "$HOME/$OVERSTORY_AGENT_NAME-$n.env"
ov mail send --to operator --type question --subject q --body "which $n?" > /dev/null
${words}
`;
    writeFileSync(join(project.home, "bin", name), script, { mode: 0o755 });
  }
  return project;
}

const shell = (project: TestProject, more: Record<string, string> = {}) => ({
  env: { PATH: `${join(project.home, "bin")}:${process.env.PATH}`, ...more },
});

async function sling(project: TestProject, name: string, more: Record<string, string>, ...flags: string[]) {
  const slung = await project.ovWith(shell(project, more), "sling", `Look ${name}`, "--name", name, ...flags);
  expect(slung).toMatchObject({ code: 0 });
  await untilTurns(project, name, 1);
}

const argvOf = ({ home }: TestProject, name: string, turn: number): string[] =>
  readFileSync(join(home, `${name}-${turn}.argv`), "utf8").split("\n");

const after = (argv: readonly string[], flag: string): string | undefined =>
  argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined;

const environmentOf = ({ home }: TestProject, name: string, turn: number): Record<string, string> =>
  Object.fromEntries(
    readFileSync(join(home, `${name}-${turn}.env`), "utf8")
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

async function nextTurn(project: TestProject, name: string): Promise<void> {
  await project.json("mail", "send", "--to", name, "--subject", "go", "--body", "on");
  await untilTurns(project, name, 2);
}

test("models.* gives a capability its model, before the manifest, and an agent keeps its own whatever changes", async () => {
  await using project = await projectWith("models: {builder: opus}\n", { "runtime.default": "claude" });
  const manifest = { agents: { builder: { model: "sonnet" }, scout: { model: "haiku" } } };
  writeFileSync(join(project.root, ".overstory/agent-manifest.json"), JSON.stringify(manifest));
  await sling(project, "b1", {});
  await sling(project, "s1", {}, "--capability", "scout");
  await sling(project, "b2", {}, "--model", "haiku");
  expect(after(argvOf(project, "b1", 0), "--model")).toBe("opus");
  expect(after(argvOf(project, "s1", 0), "--model")).toBe("haiku");
  expect(after(argvOf(project, "b2", 0), "--model")).toBe("haiku");
  expect(await project.agent("b1")).toMatchObject({ runtime: "claude", model: "opus", cliVersion: "9.9.9" });
  for (const [key, value] of [
    ["models.builder", "sonnet"],
    ["runtime.default", "scripted"],
    ["runtime.fallbackModels.claude", "haiku"],
  ] as const)
    await project.json("config", "set", key, value);
  await nextTurn(project, "b1");
  const [later] = await ranTurns(project, "b1");
  expect(later).toMatchObject({ clean: true });
  expect(after(argvOf(project, "b1", 1), "--model")).toBe("opus");
  expect(argvOf(project, "b1", 1)).not.toContain("--fallback-model");
}, 120_000);

test("providers.* lead agents of Claude Code to a gateway, whose token no other agent gets", async () => {
  const corner = "corner: {type: gateway, baseUrl: 'http://127.0.0.1:9/corner', authTokenEnv: CORNER_PASS}";
  await using project = await projectWith(`models: {scout: corner/glm-5}\nproviders: {${corner}}\n`, {
    "runtime.default": "claude",
    "runtime.fallbackModels.claude": "haiku",
  });
  const keys = { CORNER_PASS: "token-of-the-corner", ANTHROPIC_API_KEY: "sk-own", OPENAI_API_KEY: "sk-other" };
  const without = await project.ovWith(shell(project), "sling", "Look", "--capability", "scout");
  expect(without.code).not.toBe(0);
  expect(without.err).toContain("CORNER_PASS");
  await sling(project, "s1", keys, "--capability", "scout");
  await sling(project, "b1", keys);
  const argv = argvOf(project, "s1", 0);
  expect([after(argv, "--model"), after(argv, "--fallback-model")]).toEqual(["sonnet", "haiku"]);
  expect(environmentOf(project, "s1", 0)).toMatchObject({
    ANTHROPIC_BASE_URL: "http://127.0.0.1:9/corner",
    ANTHROPIC_AUTH_TOKEN: "token-of-the-corner",
    ANTHROPIC_API_KEY: "",
    ANTHROPIC_DEFAULT_SONNET_MODEL: "glm-5",
  });
  const other = environmentOf(project, "b1", 0);
  expect(other).toMatchObject({ ANTHROPIC_API_KEY: "sk-own" });
  for (const name of ["CORNER_PASS", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY"]) expect(other).not.toHaveProperty(name);

  await project.json("config", "set", "providers.corner.baseUrl", "http://127.0.0.1:9/moved");
  await nextTurn(project, "s1");
  expect(environmentOf(project, "s1", 1).ANTHROPIC_BASE_URL).toBe("http://127.0.0.1:9/corner");
}, 120_000);

test("runtime.pi.provider and runtime.pi.modelMap say what Pi is told of a model", async () => {
  await using project = await projectWith("models: {builder: sonnet, scout: small}\n", {
    "runtime.default": "pi",
    "runtime.pi.provider": "corner",
    "runtime.pi.modelMap.sonnet": "far/away",
  });
  await sling(project, "b1", {});
  await sling(project, "s1", {}, "--capability", "scout");
  expect(after(argvOf(project, "b1", 0), "--model")).toBe("far/away");
  expect(after(argvOf(project, "s1", 0), "--model")).toBe("corner/small");
}, 120_000);
