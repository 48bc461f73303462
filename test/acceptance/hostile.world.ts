import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { guardPolicyOf } from "../../src/domain/guard/policy.ts";
import { roleOf } from "../../src/domain/role/roles.ts";
import { markedCommand, markOfToken } from "../../testkit/marked.ts";
import { ovBinary } from "../../testkit/ov.ts";
import type { TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { seat } from "../mcp/mcp.world.ts";

/** The two ways to run the program: as users get it, and from a checkout. */
export const programs = {
  "the compiled program": (): string => ovBinary(),
  "the program run from source": (): string => resolve(import.meta.dir, "../../bin/ov"),
} as const;

/** Modules our own program imports, as the directory would like them to be found. */
const lures = ["yaml", "bun", "bun:sqlite", "bun:test", "fs", "node:fs", "path", "overstory"];

/** Puts everything into a directory by which a Bun program can be made to run foreign code or to believe foreign settings. */
export function setTraps(dir: string, marker: string): void {
  const evil = (trap: string): string =>
    `require("node:fs").appendFileSync(${JSON.stringify(marker)}, ${JSON.stringify(`${trap}\n`)});\n`;
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  put("evil-preload.ts", evil("preload"));
  put("evil-paths.ts", `${evil("paths")}export default {};\n`);
  put("evil-imports.ts", evil("imports"));
  put("bunfig.toml", 'preload = ["./evil-preload.ts"]\n[run]\npreload = ["./evil-preload.ts"]\n');
  put("tsconfig.json", JSON.stringify({ compilerOptions: { baseUrl: ".", paths: { "*": ["./evil-paths.ts"] } } }));
  put(
    "package.json",
    JSON.stringify({
      name: "overstory",
      type: "commonjs",
      main: "./evil-imports.ts",
      imports: { "#*": "./evil-imports.ts" },
      exports: { "./*": "./evil-imports.ts" },
      scripts: { preinstall: "bun evil-imports.ts", ov: "bun evil-imports.ts", start: "bun evil-imports.ts" },
    }),
  );
  const settings = [
    "OVERSTORY_PROJECT_ROOT=/nowhere",
    "OVERSTORY_TOKEN=forged",
    "OVERSTORY__PROJECT__NAME=hijacked",
    "OVERSTORY_TEST_KILL_AT=command.before-commit",
    "NO_COLOR=",
    "FORCE_COLOR=1",
  ];
  for (const name of [".env", ".env.local", ".env.production", ".env.development"])
    put(name, `${settings.join("\n")}\n`);
  for (const lure of lures) {
    put(`node_modules/${lure}/package.json`, JSON.stringify({ name: lure, version: "9.9.9", main: "index.js" }));
    put(`node_modules/${lure}/index.js`, `${evil(`node_modules/${lure}`)}module.exports = {};\n`);
  }
}

/** What the traps caught so far. */
export const caught = (marker: string): string[] =>
  existsSync(marker) ? [...new Set(readFileSync(marker, "utf8").trim().split("\n"))].sort() : [];

interface HotCommand {
  readonly args: readonly string[];
  /** The agent whose turn it runs in; the operator otherwise. */
  readonly as?: "b1";
  readonly stdin?: string;
  /** What it ends with; 0 unless said. */
  readonly code?: number;
}

const push = JSON.stringify({ tool_name: "Bash", tool_input: { command: "git push" }, cwd: "/" });
const look = JSON.stringify({ tool_name: "Bash", tool_input: { command: "git status" }, cwd: "/" });
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const speaking = [initialize, { jsonrpc: "2.0", id: 2, method: "tools/list" }]
  .map((message) => `${JSON.stringify(message)}\n`)
  .join("");

/** The commands that hooks, agents and people run all the time. */
export const hotCommands: readonly HotCommand[] = [
  { args: ["--version"] },
  { args: ["mail", "send", "--to", "operator", "--subject", "Hello", "--body", "there"] },
  { args: ["mail", "check", "--inject"] },
  { args: ["log", "tool-start", "--tool-name", "Bash"] },
  { args: ["status"] },
  { args: ["prime"] },
  { args: ["task", "create", "A task", "--id", "T1"] },
  { args: ["task", "list"] },
  { args: ["hook", "pre-tool", "--rules", "RULES"], as: "b1", stdin: look },
  { args: ["hook", "pre-tool", "--rules", "RULES"], as: "b1", stdin: push, code: 2 },
  { args: ["hook", "post-tool"], as: "b1", stdin: look },
  { args: ["hook", "stop"], as: "b1", stdin: "{}" },
  { args: ["hook", "pre-tool"], stdin: look },
  { args: ["mcp"], as: "b1", stdin: speaking },
  { args: ["mcp"], stdin: speaking, code: 8 },
  // For itself it would wait for an engine.
  { args: ["done", "--agent", "b2", "--summary", "finished"], as: "b1", code: 8 },
];

/** Runs every hot command in the project's root; answers what each said, without what differs between any two runs. */
export async function runHotCommands(program: string, project: TestProject): Promise<string[]> {
  const said: string[] = [];
  const { token } = await seat(project, "b1", "builder");
  const mark = await project.read((tx) => markOfToken(tx, token));
  const rules = join(project.home, "rules.json");
  writeFileSync(rules, policyOf(project));
  for (const { args, as, stdin } of hotCommands) {
    // Without the compiled settings the program must read YAML, and so load a module with a tempting name.
    rmSync(statePath(project.root, "run", "config.json"), { force: true });
    const cmd = [program, ...args.map((word) => (word === "RULES" ? rules : word))];
    const agent = { ...project.env, OVERSTORY_TOKEN: token, OVERSTORY_PROJECT_ROOT: project.root };
    const world = as === undefined ? project : { root: project.root, env: agent };
    const { code, out, err } = await run(as === undefined ? cmd : markedCommand(mark ?? 0, cmd), world, stdin);
    said.push(`ov ${args.join(" ")}: ${code}\n${settled(out, project)}${settled(err, project)}`);
  }
  return said;
}

function policyOf({ root }: TestProject): string {
  const agent = { name: "b1", taskId: null, worktreePath: root, scope: [], shares: [] };
  const terms = { root, state: statePath(root), gates: [], steering: ["CLAUDE.md"] };
  return JSON.stringify(guardPolicyOf(roleOf("builder"), agent, terms));
}

export async function run(cmd: string[], { root, env }: Pick<TestProject, "root" | "env">, stdin?: string) {
  const input = stdin === undefined ? "ignore" : new Blob([stdin]);
  const child = Bun.spawn({ cmd, cwd: root, env: { ...env }, stdio: [input, "pipe", "pipe"] });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

const settled = (text: string, { root }: TestProject): string =>
  text
    .replaceAll(root, "<root>")
    .replaceAll(/\bmsg-[a-z0-9]+/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/\b\d+[smh] ago\b/g, "<age>");
