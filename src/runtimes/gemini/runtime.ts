import type { LaunchPlan, LaunchRequest, PlannedFile, Runtime, ToolServer } from "../../ports/runtime.ts";
import { acpDriver } from "../shared/acp/driver.ts";
import { execJsonDriver } from "../shared/exec-json.ts";
import { withoutMentions } from "../shared/mentions.ts";
import { guardHooks, guardLine } from "./hooks.ts";
import { geminiCause, streamJsonReader } from "./stream-json.ts";
import { geminiAcpToolUse, toolOfCall, unattendedTools } from "./tools.ts";

/** Gemini CLI, one process per turn. */
export const geminiRuntime: Runtime = {
  id: "gemini",
  footprint: {
    keeps: [".gemini"],
    brings: [
      ".gemini/oauth_creds.json",
      ".gemini/gemini-credentials.json",
      ".gemini/google_accounts.json",
      ".gemini/installation_id",
      ".gemini/settings.json",
    ],
    moves: { GEMINI_CLI_HOME: { ".gemini": ".gemini" } },
    reads: [],
    writes: [],
  },
  program: "gemini",
  instructionFile: "GEMINI.md",
  guardedFiles: ["**/.gemini/**"],
  guardLine,
  gitAuthor: "variables",
  environment: ["GEMINI_*", "GOOGLE_*"],
  login: {
    variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"],
    files: [".gemini/oauth_creds.json"],
    status: null,
    certain: false,
  },
  complaints: [
    { says: "Invalid session identifier", cause: "session_lost" },
    { says: "No previous sessions found", cause: "session_lost" },
    { says: "Invalid auth method", cause: "login" },
    { says: "set an Auth method", cause: "login" },
    { says: "Unknown argument", cause: "program" },
    { says: "trusted directory", cause: "mode" },
  ],
  advice: {
    login:
      "export GEMINI_API_KEY (or, for a login of another kind, GEMINI_DEFAULT_AUTH_TYPE=oauth-personal after: gemini)",
    program: "make sure that this shell runs: gemini --version",
  },
  drivers: [
    execJsonDriver({
      // A person's own session has neither the settings of a turn nor its guard.
      abilities: { terminal: false, tokens: "turn", tools: true },
      launch,
      reader: streamJsonReader,
    }),
    // No hook is run in this mode. It asks before it uses a tool, except for those that only read.
    acpDriver({
      plan: (request) => ({
        argv: withKeptConversation(request, ["gemini", "--acp", "--approval-mode", "default", ...modelFlag(request)]),
        env: environment(request),
        files: files({ ...request, guard: null }, { mcpServers: {}, tools: { exclude: unattendedTools } }),
      }),
      toolsBy: "session",
      // It tells an earlier conversation again after it has said that it is loaded; the answer to this comes behind that.
      mode: "default",
      modelOption: null,
      words: (prompt) => withoutMentions(prompt, mention),
      usage: "prompt",
      nameOf: toolOfCall,
      toolUse: geminiAcpToolUse,
      causeOf: geminiCause,
      abilities: { resume: true, tools: true },
      stays: true,
    }),
  ],
  terminal: ({ resume }) => ({ argv: ["gemini", "--resume", resume], env: {}, input: "", files: [] }),
};

function launch(request: LaunchRequest): LaunchPlan {
  const { resume, prompt } = request;
  const argv = ["gemini", "--output-format", "stream-json", "--approval-mode", "yolo", ...modelFlag(request)];
  if (resume !== null) argv.push("--resume", resume);
  // With nothing but an input that is no terminal, it works unattended.
  return { argv, env: environment(request), input: withoutMentions(prompt, mention), files: files(request) };
}

const modelFlag = ({ model }: LaunchRequest): readonly string[] => (model === null ? [] : ["--model", model]);

const environment = ({ turnDir }: LaunchRequest): Readonly<Record<string, string>> => ({
  GEMINI_CLI_HOME: `${turnDir}/${home}`,
  GEMINI_CLI_TRUST_WORKSPACE: "true",
  // Otherwise it starts itself once more, and a signal reaches only the first of the two.
  GEMINI_CLI_NO_RELAUNCH: "true",
  // A login that needs a person fails instead of waiting for one.
  NO_BROWSER: "true",
});

/**
 * Over ACP it begins a new file for a conversation before it loads that conversation. Both files have the minute in their
 * names, so within one minute the new one overwrites the old one. A conversation that is gone on with has a name without a
 * minute; Gemini finds it by what stands in it.
 */
const withKeptConversation = ({ resume }: LaunchRequest, argv: readonly string[]): readonly string[] =>
  resume === null ? argv : ["sh", "-c", keepConversation, "sh", resume.slice(0, 8), ...argv];

const keepConversation = [
  'for ov_file in "$GEMINI_CLI_HOME"/.gemini/tmp/*/chats/session-*-"$1".jsonl; do',
  `ov_kept="\${ov_file%/*}/session-0-$1.jsonl"`,
  '[ -e "$ov_kept" ] || [ ! -e "$ov_file" ] || command -p mv "$ov_file" "$ov_kept"',
  "done",
  "shift",
  'exec "$@"',
].join("\n");

/** Whatever stands before it, except a backslash; not before what ends a path. */
const mention = /(?<!\\)@(?=[^ \t\n\r,;!?()[\]{}])/g;

/** Where Gemini looks for what is its user's, in the directory of the turn. */
const home = "gemini";

/**
 * Gemini takes settings only from files: of the system, which must be root's, of its user, and of the worktree, where
 * nothing of ours is to lie. So a turn has a user's directory of its own. The conversations and the logins in it are those
 * of the agent's real home; the settings of its person are not read.
 */
const files = (request: LaunchRequest, more: object = {}): readonly PlannedFile[] => [
  {
    in: "turn",
    path: `${home}/.gemini/settings.json`,
    text: `${JSON.stringify({ ...settings(request), ...more }, null, 2)}\n`,
  },
  { in: "turn", path: `${home}/.gemini/tmp`, to: ".gemini/tmp", isDirectory: true },
  ...["oauth_creds.json", "gemini-credentials.json", "google_accounts.json", "installation_id"].map(
    (name): PlannedFile => ({ in: "turn", path: `${home}/.gemini/${name}`, to: `.gemini/${name}`, isDirectory: false }),
  ),
];

const settings = ({ guard, tools }: LaunchRequest): object => ({
  general: {
    enableAutoUpdate: false,
    // It would delete conversations that we go on with.
    sessionRetention: { enabled: false },
  },
  // An agent could write variables for the next turn of Gemini itself.
  advanced: { ignoreLocalEnv: true },
  security: {
    // Without a setting the variables decide, and with the address of a gateway among them wrongly.
    auth: { selectedType: variable("GEMINI_DEFAULT_AUTH_TYPE") },
    // Otherwise names with TOKEN in them are left out of what our server is given, and in some places of what commands are.
    environmentVariableRedaction: { allowed: tools?.env ?? [] },
  },
  hooksConfig: { enabled: true },
  ...(guard === null ? {} : { hooks: guardHooks(guard) }),
  ...(tools === null ? {} : { mcpServers: { [tools.name]: toolServer(tools) } }),
});

/** What a setting takes from the environment when it is read; nothing where the variable is not set. */
const variable = (name: string): string => `\${${name}:-}`;

const toolServer = ({ command, args, env }: ToolServer): object => ({
  command,
  args,
  env: Object.fromEntries(env.map((name) => [name, variable(name)])),
  trust: true,
});
