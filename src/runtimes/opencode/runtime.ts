import { pathToFileURL } from "node:url";
import type { LaunchPlan, LaunchRequest, Runtime, ToolServer } from "../../ports/runtime.ts";
import { acpDriver } from "../shared/acp/driver.ts";
import { causeOf, execJsonDriver } from "../shared/exec-json.ts";
import { withExitLine } from "../shared/exit-line.ts";
import { execJsonReader, toldByPlugin } from "./exec-json.ts";
import { askFirst, guardLine, guardPlugin, opencodeAcpToolUse, tellingPlugin, withoutGuard } from "./hooks.ts";

/** OpenCode, one process per turn. */
export const opencodeRuntime: Runtime = {
  id: "opencode",
  footprint: {
    keeps: [".local/share/opencode", ".local/state/opencode", ".config/opencode"],
    brings: [
      ".local/share/opencode/auth.json",
      ".config/opencode/opencode.json",
      ".config/opencode/opencode.jsonc",
      ".config/opencode/config.json",
    ],
    moves: {
      XDG_DATA_HOME: { ".local/share/opencode": "opencode" },
      XDG_STATE_HOME: { ".local/state/opencode": "opencode" },
      XDG_CONFIG_HOME: { ".config/opencode": "opencode" },
      XDG_CACHE_HOME: {},
      OPENCODE_DB: { ".local/share/opencode/opencode.db": "" },
    },
    reads: ["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"],
    writes: [],
  },
  program: "opencode",
  instructionFile: "AGENTS.md",
  guardLine,
  guardedFiles: ["**/.opencode/**", "**/opencode.json", "**/opencode.jsonc"],
  gitAuthor: "settings",
  environment: [
    "OPENCODE_*",
    ...["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"],
    ...["ANTHROPIC_*", "OPENAI_*", "AZURE_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*", "MISTRAL_*", "GROQ_*"],
    ...["XAI_*", "DEEPSEEK_*", "CEREBRAS_*", "ZAI_*", "AWS_*"],
  ],
  login: {
    variables: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    files: [".local/share/opencode/auth.json"],
    status: null,
    certain: false,
  },
  complaints: [
    { says: "Session not found", cause: "session_lost" },
    // All its processes share one database, and do not wait for each other while it is made.
    { says: "database is locked", cause: "busy" },
    { says: "CREATE TABLE", cause: "busy" },
    { says: "ProviderModelNotFoundError", cause: "model" },
    { says: "Model not found", cause: "model" },
    { says: "Unknown argument", cause: "program" },
  ],
  advice: {
    login: "log in with: opencode auth login (or export the key of its provider, such as ANTHROPIC_API_KEY)",
    program: "make sure that this shell runs: opencode --version",
  },
  drivers: [
    execJsonDriver({
      // A person's own session has neither the settings of a turn nor its guard.
      abilities: { terminal: false, tokens: "answer", tools: true },
      launch,
      reader: execJsonReader,
    }),
    // It asks about every tool; the plugin only tells what the protocol does not.
    acpDriver({
      plan: (request) => ({
        argv: ["opencode", "acp"],
        env: environment({
          ...base,
          permission: askFirst,
          plugin: [pathToFileURL(`${request.turnDir}/${teller}`).href],
          ...(request.model === null ? {} : { model: request.model }),
        }),
        files: [{ in: "turn", path: teller, text: tellingPlugin }],
      }),
      toolsBy: "session",
      mode: null,
      modelOption: null,
      // The figures are those of the last call of the model. Those of each are told by the plugin.
      usage: "none",
      aside: toldByPlugin,
      nameOf: ({ name }) => name,
      toolUse: opencodeAcpToolUse,
      causeOf,
      abilities: { resume: true, tools: true },
    }),
  ],
  terminal: ({ resume }) => ({ argv: ["opencode", "--session", resume], env: {}, input: "", files: [] }),
};

const plugin = "opencode-guard.js";
const teller = "opencode-teller.js";

function launch(request: LaunchRequest): LaunchPlan {
  const { model, resume, guard, prompt } = request;
  const argv = ["opencode", "run", "--format", "json"];
  if (model !== null) argv.push("--model", model);
  if (resume !== null) argv.push("--session", resume);
  return {
    argv: withExitLine(argv),
    env: environment(settings(request)),
    // Without a message on the command line it reads it from an input that is no terminal.
    input: prompt,
    files: guard === null ? [] : [{ in: "turn", path: plugin, text: guardPlugin(guard) }],
  };
}

/** Settings that stand here count more than those of files. */
const environment = (content: object): Readonly<Record<string, string>> => ({
  OPENCODE_CONFIG_CONTENT: JSON.stringify(content),
  OPENCODE_DISABLE_AUTOUPDATE: "1",
});

const base = {
  autoupdate: false,
  share: "disabled",
  // It would keep copies of the worktree in a repository of its own.
  snapshot: false,
};

const settings = ({ guard, tools, turnDir }: LaunchRequest): object => ({
  ...base,
  ...(guard === null ? {} : { permission: withoutGuard, plugin: [pathToFileURL(`${turnDir}/${plugin}`).href] }),
  ...(tools === null ? {} : { mcp: { [tools.name]: toolServer(tools) } }),
});

const toolServer = ({ command, args, env }: ToolServer): object => ({
  type: "local",
  command: [command, ...args],
  enabled: true,
  environment: Object.fromEntries(env.map((name) => [name, `{env:${name}}`])),
});
