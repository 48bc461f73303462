import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventsOf, letGo, slingNew, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** Stands for Claude Code: notes how it was started, then writes over everything in the state directory that guards it. */
const program = `#!/bin/sh
[ "$1" = --version ] && { echo "2.1.325 (Claude Code)"; exit 0; }
printf '%s\\0' "$@" > "$HOME/argv"
printf '#!/bin/sh\\necho forged >> "$HOME/forged"\\nexit 0\\n' > "$(command -v ov)"
find "$STATE" -name guard.json -exec sh -c 'printf "{}" > "$1"' _ {} \\;
touch "$HOME/ready"
until [ -e "$HOME/hook.sh" ]; do sleep 0.05; done
sh "$HOME/hook.sh" > "$HOME/said" 2>&1
echo $? > "$HOME/code.new"; mv "$HOME/code.new" "$HOME/code"
until [ -e "$HOME/go" ]; do sleep 0.05; done
`;

test("an agent that writes over the program, the rules and the tools in the state directory stays guarded", async () => {
  const bin = mkdtempSync(join(tmpdir(), "ov-claude-"));
  await using project = await makeProject({ env: { PATH: `${bin}:${process.env.PATH}` } });
  writeFileSync(join(bin, "claude"), program.replaceAll("$STATE", statePath(project.root)), { mode: 0o755 });
  await slingNew(project, "B1", "--runtime", "claude");
  await untilFile(project, "ready");
  const argv = readFileSync(join(project.home, "argv"), "utf8").split("\0");
  const after = (flag: string): string => argv[argv.indexOf(flag) + 1] ?? "";
  const { settings, tools } = { settings: after("--settings"), tools: after("--mcp-config") };
  const command: string = JSON.parse(settings).hooks.PreToolUse[0].hooks[0].command;
  expect(command).not.toContain("run/bin");
  expect(JSON.parse(tools).mcpServers.overstory.command).not.toContain("run/bin");
  const asked = JSON.stringify({ tool_name: "Bash", tool_input: { command: "git status" }, cwd: project.root });
  const script = join(project.home, "hook.sh");
  writeFileSync(`${script}.new`, `printf '%s' '${asked}' | { ${command}; }\n`);
  renameSync(`${script}.new`, script);
  await untilFile(project, "code");
  expect(readFileSync(join(project.home, "code"), "utf8").trim()).toBe("2");
  expect(readFileSync(join(project.home, "said"), "utf8")).toContain("not those its turn began with");
  expect(await Bun.file(join(project.home, "forged")).exists()).toBe(false);
  await letGo(project);
  rmSync(bin, { recursive: true });
});

test("what an agent wrote in place of ov is gone before anybody's next turn", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: b1 }
  do:
    - shell: printf 'x' > "$(command -v ov)"; touch "$HOME/written"
    - hang: true
- do:
    - shell: cat "$(command -v ov)" > "$HOME/ov.seen"
    - touch: "\${env.HOME}/seen"
    - hang: true
`,
  });
  await slingNew(project, "B1");
  await untilFile(project, "written");
  await slingNew(project, "B2");
  await untilFile(project, "seen");
  expect(readFileSync(join(project.home, "ov.seen"), "utf8")).toStartWith("#!/bin/sh\nexec ");
});

/** Stands for Claude Code: notes how it was started, and waits. */
const noting = `#!/bin/sh
[ "$1" = --version ] && { echo "2.1.325 (Claude Code)"; exit 0; }
printf '%s\\0' "$@" > "$HOME/argv.new"; mv "$HOME/argv.new" "$HOME/argv"
until [ -e "$HOME/go" ]; do sleep 0.05; done
`;

test("sandbox.mode off takes the guard away, and says so with every command of the operator", async () => {
  const bin = mkdtempSync(join(tmpdir(), "ov-claude-"));
  writeFileSync(join(bin, "claude"), noting, { mode: 0o755 });
  await using project = await makeProject({
    config: "sandbox:\n  mode: off\n",
    env: { PATH: `${bin}:${process.env.PATH}` },
  });
  const off = "sandbox.mode is off: the tools of agents are not guarded";
  await project.ov("task", "create", "One", "--id", "B1");
  const slung = await project.ov("sling", "B1", "--name", "b1", "--runtime", "claude");
  expect(slung).toMatchObject({ code: 0, err: expect.stringContaining(off) });
  await untilFile(project, "argv");
  expect(readFileSync(join(project.home, "argv"), "utf8")).not.toContain("pre-tool");
  expect((await project.ov("status")).err).toContain(off);
  expect((await project.json("status")).notices).toEqual([expect.stringContaining(off)]);
  const rules = readFileSync(statePath(project.root, "agents", "b1", "guard.json"), "utf8");
  expect(JSON.parse(rules)).toMatchObject({ off: true });
  expect(await Bun.file(statePath(project.root, "run", "guard-tried.json")).exists()).toBe(false);
  await letGo(project);
  rmSync(bin, { recursive: true });
});

test("the guard is tried before the first turn that relies on it, and not again", async () => {
  const bin = mkdtempSync(join(tmpdir(), "ov-claude-"));
  writeFileSync(join(bin, "claude"), noting, { mode: 0o755 });
  await using project = await makeProject({ env: { PATH: `${bin}:${process.env.PATH}` } });
  await slingNew(project, "B1", "--runtime", "claude");
  await untilFile(project, "argv");
  const tried = statePath(project.root, "run", "guard-tried.json");
  const first = statSync(tried).mtimeMs;
  expect(JSON.parse(readFileSync(tried, "utf8"))).toHaveLength(1);
  expect(await eventsOf(project, "guard_denied")).toEqual([]);
  rmSync(join(project.home, "argv"));
  await slingNew(project, "B2", "--runtime", "claude");
  await untilFile(project, "argv");
  expect(statSync(tried).mtimeMs).toBe(first);
  await letGo(project);
  rmSync(bin, { recursive: true });
});
