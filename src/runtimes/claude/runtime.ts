import type { Driver, Runtime, TerminalRequest } from "../../ports/runtime.ts";
import { withoutMentions as escaped } from "../shared/mentions.ts";
import { guardLine, guardSettings, hookSettings } from "./hooks.ts";
import { streamJsonReader } from "./stream-json.ts";
import {
  gatewayVariables,
  mcpServers,
  modelArguments,
  streamJsonArguments,
  streamJsonInput,
} from "./stream-json-launch.ts";

const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };

/**
 * A turn ends when its work does: nothing goes on in the background of it. A command that takes long is waited for
 * instead, up to ten minutes, during which the program says every half minute that it lives.
 */
const alone = { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1", BASH_DEFAULT_TIMEOUT_MS: "600000" };

/**
 * The program's own memory is one directory that all agents of a project would share, and what it says about git is said by
 * our role texts. Each request is shorter without.
 */
const brief = { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1", CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: "1" };

/** What an agent may need of the program's own tools. The others ask a person, or delegate past us. */
const ownTools = "Bash,Edit,NotebookEdit,Read,WebFetch,WebSearch,Write";

/** Claude Code, one process per turn. */
export const claudeRuntime: Runtime = {
  id: "claude",
  footprint: {
    keeps: [".claude"],
    brings: [".claude.json", ".claude/.credentials.json", ".claude/settings.json", ".claude/CLAUDE.md"],
    moves: {
      CLAUDE_CONFIG_DIR: { ".claude": "", ".claude.json": ".claude.json" },
      CLAUDE_SECURESTORAGE_CONFIG_DIR: { ".claude/.credentials.json": ".credentials.json" },
      CLAUDE_CODE_TMPDIR: {},
    },
    reads: [],
    writes: [],
  },
  program: "claude",
  instructionFile: ".claude/CLAUDE.md",
  guardedFiles: ["**/.claude/settings*.json"],
  guardLine,
  gitAuthor: "settings",
  environment: [
    "ANTHROPIC_*",
    "CLAUDE_*",
    "AWS_*",
    "GOOGLE_*",
    "VERTEX_*",
    "CLOUD_ML_REGION",
    "IS_SANDBOX",
    "API_TIMEOUT_MS",
  ],
  login: {
    variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    files: [],
    status: ["auth", "status"],
    certain: true,
  },
  complaints: [
    { says: "error: unknown option", cause: "program" },
    { says: "No conversation found", cause: "session_lost" },
  ],
  advice: {
    login: "log in with: claude auth login (or export ANTHROPIC_API_KEY)",
    program: "make sure that this shell runs: claude --version",
    mode: "let claude start in the mode that it is asked for (permissions.defaultMode in its settings)",
  },
  drivers: [
    driver("stream-json", "once"),
    // It asks us about the few tools that it does not use on the word of a hook, such as an edit of .vscode/settings.json.
    driver("control", "open"),
  ],
  terminal: (request) => ({
    argv: ["claude", ...terminalArguments(request)],
    env: { ...quiet, ...gatewayVariables(request.gateway) },
    input: "",
    files: [],
  }),
};

/** The guard is a hook in both. It allows a tool by a word, so a hook that fails or takes too long allows nothing. */
function driver(id: string, input: Driver["input"]): Driver {
  return {
    id,
    input,
    abilities: { resume: true, terminal: true, costLimit: true, tokens: "answer", tools: true },
    instructions: "file",
    steer: input === "once" ? null : ({ id, text }) => streamJsonInput(withoutMentions(text), id),
    launch: (request) => ({
      argv: [
        ...["claude", ...streamJsonArguments(request, input), "--disable-slash-commands", "--tools", ownTools],
        ...["--settings", JSON.stringify(guardSettings(request.guard))],
      ],
      env: { ...quiet, ...alone, ...brief, ...gatewayVariables(request.gateway) },
      input: streamJsonInput(withoutMentions(request.prompt)),
      files: [],
    }),
    reader: streamJsonReader,
  };
}

/** Hooks come on the command line: nothing needs to be put into the agent's worktree, and nothing is left there. */
function terminalArguments({ model, gateway, resume, instructions, tools, guard }: TerminalRequest): string[] {
  // Without the rules of turns: a person sits here, and what tools do is put on record by the hook itself.
  const settings = hookSettings({ failClosed: true, guard });
  const argv = ["--resume", resume, "--settings", JSON.stringify(settings)];
  if (tools !== null) argv.push("--strict-mcp-config", "--mcp-config", mcpServers(tools));
  argv.push(...modelArguments({ model, gateway }));
  if (instructions !== null) argv.push("--append-system-prompt-file", instructions);
  return argv;
}

/** Its own switches for mentions either leave a note that the person wants the file read, or take away more. */
export const withoutMentions = (prompt: string): string => escaped(prompt, mention);

/** An at sign behind a letter or a digit belongs to a mail address; anywhere else it may start a mention. */
const mention = /(?<![A-Za-z0-9_@\\])@(?=\S)/g;
