import type { LaunchRequest, Runtime, TerminalRequest, ToolServer } from "../../ports/runtime.ts";
import { execJsonDriver } from "../shared/exec-json.ts";
import { execJsonReader } from "./exec-json.ts";
import { guardLine, guardSetting, tomlText } from "./hooks.ts";

/** Codex, one process per turn. */
export const codexRuntime: Runtime = {
  id: "codex",
  footprint: {
    keeps: [".codex"],
    brings: [".codex/auth.json", ".codex/config.toml"],
    moves: { CODEX_HOME: { ".codex": "" }, CODEX_SQLITE_HOME: { ".codex/sqlite": "" } },
    reads: [],
    writes: [],
  },
  program: "codex",
  instructionFile: "AGENTS.md",
  guardedFiles: ["**/AGENTS.override.md", "**/.codex/**"],
  guardLine,
  gitAuthor: "settings",
  environment: ["OPENAI_*", "CODEX_*", "AZURE_OPENAI_*"],
  login: { variables: ["CODEX_API_KEY"], files: [], status: ["login", "status"], certain: false },
  complaints: [
    { says: "no rollout found for thread id", cause: "session_lost" },
    { says: "Not logged in", cause: "login" },
    { says: "error: unexpected argument", cause: "program" },
    { says: "Error loading config", cause: "program" },
  ],
  advice: {
    login: "log in with: codex login (or export CODEX_API_KEY)",
    program: "make sure that this shell runs: codex --version",
  },
  drivers: [
    execJsonDriver({
      abilities: { terminal: true, tokens: "turn", tools: true },
      launch: (request) => ({
        argv: ["codex", "exec", ...execArguments(request)],
        env: {},
        input: request.prompt,
        files: [],
      }),
      reader: execJsonReader,
    }),
  ],
  terminal: (request) => ({ argv: ["codex", ...terminalArguments(request)], env: {}, input: "", files: [] }),
};

function execArguments(request: LaunchRequest): string[] {
  const { model, resume } = request;
  const argv = ["--json", "--skip-git-repo-check", ...settings(request), "--disable", "unbounded_connection_retries"];
  if (model !== null) argv.push("--model", model);
  if (resume !== null) argv.push("resume", resume);
  // The prompt comes on standard input.
  return [...argv, "-"];
}

function terminalArguments(request: TerminalRequest): string[] {
  const argv = ["resume", ...settings(request)];
  if (request.model !== null) argv.push("--model", request.model);
  return [...argv, request.resume];
}

/** What holds for turns and for a person at a terminal. */
function settings({ guard, tools }: Pick<LaunchRequest, "guard" | "tools">): string[] {
  const argv = [
    // Its own sandbox makes the git directory read-only, and without it no person is there to approve.
    "--dangerously-bypass-approvals-and-sandbox",
    // They look things up on the network, and bring tools that no guard knows.
    ...["apps", "plugins", "multi_agent", "goals"].flatMap((feature) => ["--disable", feature]),
    // Otherwise a profile of the shell puts another `ov` before ours, and names with TOKEN in them are left out.
    ...["allow_login_shell=false", 'shell_environment_policy.inherit="all"'].flatMap(setting),
    ...setting("shell_environment_policy.ignore_default_excludes=true"),
  ];
  if (tools !== null) argv.push(...setting(toolServer(tools)));
  // A hook that is not confirmed would be left out without a word.
  if (guard !== null) argv.push("--dangerously-bypass-hook-trust", ...setting(guardSetting(guard)));
  return argv;
}

const setting = (text: string): string[] => ["-c", text];

/** Codex gives the server only the variables that are named. */
function toolServer({ name, command, args, env }: ToolServer): string {
  const texts = (all: readonly string[]): string => `[${all.map(tomlText).join(",")}]`;
  return `mcp_servers.${name}={command=${tomlText(command)},args=${texts(args)},env_vars=${texts(env)},required=true}`;
}
