import type { LaunchPlan, LaunchRequest, PlannedFile, Runtime, ToolServer } from "../../ports/runtime.ts";
import { acpDriver } from "../shared/acp/driver.ts";
import { causeOf, execJsonDriver } from "../shared/exec-json.ts";
import { execJsonReader, usageLine } from "./exec-json.ts";
import { guardLine, guardPlugin } from "./hooks.ts";
import { copilotAcpToolUse } from "./tools.ts";

/** GitHub Copilot CLI, one process per turn. */
export const copilotRuntime: Runtime = {
  id: "copilot",
  footprint: {
    keeps: [".copilot"],
    brings: [".copilot/config.json"],
    moves: { COPILOT_HOME: { ".copilot": "" }, COPILOT_CACHE_HOME: {}, COPILOT_PKG_CACHE_HOME: {} },
    reads: [],
    writes: [],
  },
  program: "copilot",
  instructionFile: "AGENTS.md",
  guardedFiles: ["**/.copilot/**", ".github/hooks/**", ".github/copilot/**"],
  guardLine,
  gitAuthor: "settings",
  environment: ["COPILOT_*", "GH_HOST"],
  login: {
    variables: ["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
    files: [".copilot/config.json"],
    status: null,
    certain: false,
  },
  complaints: [
    { says: "No session, task, or name matched", cause: "session_lost" },
    { says: "No authentication information found", cause: "login" },
    { says: "error: unexpected argument", cause: "program" },
  ],
  advice: {
    login: "log in with: copilot login (or export COPILOT_GITHUB_TOKEN)",
    program: "make sure that this shell runs: copilot --version",
  },
  drivers: [
    execJsonDriver({
      // A person's own session has neither the plugin of a turn nor its guard.
      abilities: { terminal: false, tokens: "turn", tools: true },
      launch,
      reader: execJsonReader,
    }),
    // The hook comes first and tells the model why; what it lets through is asked about once more.
    acpDriver({
      plan: (request) => ({
        argv: ["sh", "-c", `${keepPath}\nexec "$@"`, "sh", "copilot", "--acp", ...flags(request)],
        env: environment(request),
        files: files(request),
      }),
      // It takes no notice of servers that are named where a conversation begins.
      toolsBy: "plan",
      mode: null,
      modelOption: null,
      usage: "process",
      nameOf: ({ name }) => name,
      toolUse: copilotAcpToolUse,
      causeOf,
      abilities: { resume: true, tools: true },
    }),
  ],
  terminal: ({ resume }) => ({ argv: ["copilot", `--resume=${resume}`], env: {}, input: "", files: [] }),
};

function launch(request: LaunchRequest): LaunchPlan {
  const { resume, turnDir, prompt } = request;
  const usage = `${turnDir}/${usageFile}`;
  const argv = [
    // Without a prompt on the command line it reads it from an input that is no terminal.
    ...["copilot", "--output-format", "json", "--no-color", "--allow-all", "--usage-output-file", usage],
    ...flags(request),
  ];
  if (resume !== null) argv.push(`--resume=${resume}`);
  return {
    argv: ["sh", "-c", withUsage, "sh", usage, ...argv],
    env: environment(request),
    input: prompt,
    files: files(request),
  };
}

function flags({ model, turnDir, tools, guard }: LaunchRequest): readonly string[] {
  const argv = [
    // They reach GitHub, past every guard.
    ...["--disable-builtin-mcps", "--no-remote", "--no-remote-export", "--no-auto-update"],
    ...["--no-ask-user", "--bash-env", "on"],
  ];
  if (guard !== null) argv.push("--plugin-dir", `${turnDir}/${plugin}`);
  if (tools !== null) argv.push("--additional-mcp-config", toolServers(tools));
  if (model !== null) argv.push("--model", model);
  return argv;
}

const environment = ({ turnDir }: LaunchRequest): Readonly<Record<string, string>> => ({
  COPILOT_AUTO_UPDATE: "false",
  BASH_ENV: `${turnDir}/${bashEnv}`,
});

const plugin = "copilot-guard";
const bashEnv = "copilot-bash-env.sh";
const usageFile = "copilot-usage.json";

const keepPath = 'export OVERSTORY_PATH="$PATH"';

/**
 * Copilot tells tokens only in a file, when it leaves. The shell around it puts the file behind the other lines, and
 * keeps the PATH, which Copilot replaces for its commands.
 */
const withUsage = [
  keepPath,
  "ov_usage=$1; shift",
  '"$@"; ov_code=$?',
  '[ -s "$ov_usage" ] && {',
  `printf '{"type":"${usageLine}","data":'; command -p tr -d '\\n' <"$ov_usage"; echo '}'; }`,
  'exit "$ov_code"',
].join("\n");

const pathFirst = 'case $PATH in "$OVERSTORY_PATH"*) ;; *) PATH=$OVERSTORY_PATH:$PATH ;; esac\n';

const files = ({ guard }: LaunchRequest): readonly PlannedFile[] => [
  { in: "turn", path: bashEnv, text: pathFirst },
  ...Object.entries(guard === null ? {} : guardPlugin(guard)).map(
    ([name, content]): PlannedFile => ({
      in: "turn",
      path: `${plugin}/${name}`,
      text: `${JSON.stringify(content, null, 2)}\n`,
    }),
  ),
];

/** The variables are named: other versions do not pass on what looks like a secret. */
const toolServers = ({ name, command, args, env }: ToolServer): string =>
  JSON.stringify({
    mcpServers: {
      [name]: {
        type: "local",
        command,
        args,
        tools: ["*"],
        env: Object.fromEntries(env.map((variable) => [variable, `\${${variable}}`])),
      },
    },
  });
