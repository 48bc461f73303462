import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { letGo, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

test("an agent has a directory for files to throw away, which goes with the agent", async () => {
  await using project = await makeProject({
    scenario: `
- when: { capability: scout }
  do:
    - shell: echo note >"$OVERSTORY_SCRATCH/a"; cat "$OVERSTORY_SCRATCH/a" >"$HOME/kept"; printf %s "$OVERSTORY_SCRATCH" >"$HOME/where"
    - ov: [done, --summary, looked]
`,
  });
  await project.json("task", "create", "Look", "--id", "S");
  await project.json("sling", "S", "--name", "s1", "--capability", "scout");
  await untilAgent(project, "s1", "completed/done");
  const said = (name: string): string => readFileSync(join(project.home, name), "utf8");
  expect(said("kept")).toBe("note\n");
  expect(said("where")).toEndWith("/ov-state/agents/s1/scratch");
  await project.until("what it left was taken away", async () => (await project.agent("s1")).cleanedAt !== null);
  expect(existsSync(said("where"))).toBe(false);
}, 60_000);

/** Stands for Claude Code: notes how it was started, and then asks its guard as often as it is told to. */
const program = `#!/bin/sh
[ "$1" = --version ] && { echo "2.1.325 (Claude Code)"; exit 0; }
printf '%s\\0' "$@" > "$HOME/argv"
pwd > "$HOME/place"
touch "$HOME/ready"
until [ -e "$HOME/hook.sh" ]; do sleep 0.05; done
sh "$HOME/hook.sh"
touch "$HOME/asked"
until [ -e "$HOME/go" ]; do sleep 0.05; done
`;

test("L8: a reviewer may run a single test and keep its output; code of its own is not run, and the guard says what to do instead", async () => {
  const bin = mkdtempSync(join(tmpdir(), "ov-claude-"));
  await using project = await makeProject({ env: { PATH: `${bin}:${process.env.PATH}` }, gates: ["npm run check"] });
  writeFileSync(join(bin, "claude"), program, { mode: 0o755 });
  await project.json("task", "create", "Review", "--id", "R");
  const as = ["--capability", "reviewer", "--force-hierarchy", "--runtime", "claude"];
  await project.json("sling", "R", "--name", "r1", ...as);
  await untilFile(project, "ready");
  const kept = (name: string): string => readFileSync(join(project.home, name), "utf8");
  const argv = kept("argv").split("\0");
  const settings = JSON.parse(argv[argv.indexOf("--settings") + 1] ?? "");
  const commands = [
    "bun test src/rows.test.ts -t 'keeps the last row' 2>&1 | tee \"$OVERSTORY_SCRATCH/out.txt\"",
    "npm run check",
    "node -e 'x()'",
    'bun test "$OVERSTORY_SCRATCH/x.test.ts"',
    "bun test --preload ./x.ts",
  ];
  const asking = commands.map((command, at) => {
    const asked = { tool_name: "Bash", tool_input: { command }, cwd: kept("place").trim() };
    writeFileSync(join(project.home, `ask.${at}`), JSON.stringify(asked));
    const { command: hook } = settings.hooks.PreToolUse[0].hooks[0];
    return `( ${hook} ) <"$HOME/ask.${at}" >"$HOME/said.${at}" 2>&1; echo $? >"$HOME/code.${at}"\n`;
  });
  writeFileSync(join(project.home, "hook.new"), asking.join(""));
  renameSync(join(project.home, "hook.new"), join(project.home, "hook.sh"));
  await untilFile(project, "asked");
  expect(commands.map((_, at) => kept(`code.${at}`).trim())).toEqual(["0", "0", "2", "2", "2"]);
  expect(kept("said.2")).toContain("run the tests that there are");
  expect(kept("said.2")).not.toContain("a file of yours");
  expect(kept("said.3")).toContain("test runners in its worktree");
  await letGo(project);
  rmSync(bin, { recursive: true });
}, 60_000);
