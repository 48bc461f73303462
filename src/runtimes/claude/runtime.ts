import type { Driver, LaunchRequest, Runtime, TerminalRequest } from "../../ports/runtime.ts";
import { guardLine, guardSettings, hookSettings } from "./hooks.ts";
import { streamJsonReader } from "./stream-json.ts";
import type { PermissionMode } from "./stream-json-failures.ts";
import { mcpServers, streamJsonArguments, streamJsonInput } from "./stream-json-launch.ts";

const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };

/**
 * A turn ends when its work does: nothing goes on in the background of it. A command that takes long is waited for
 * instead, up to ten minutes, during which the program says every half minute that it lives.
 */
const alone = { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1", BASH_DEFAULT_TIMEOUT_MS: "600000" };

/** Claude Code, one process per turn. */
export const claudeRuntime: Runtime = {
  id: "claude",
  footprint: {
    keeps: [".claude"],
    brings: [".claude.json", ".claude/.credentials.json", ".claude/settings.json", ".claude/CLAUDE.md"],
    reads: [],
    writes: ["CLAUDE_CONFIG_DIR"],
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
    { says: "cannot be used with root/sudo privileges", cause: "mode" },
    { says: "error: unknown option", cause: "program" },
    { says: "No conversation found", cause: "session_lost" },
  ],
  advice: {
    login: "log in with: claude auth login (or export ANTHROPIC_API_KEY)",
    program: "make sure that this shell runs: claude --version",
    mode: "allow claude to bypass permissions (disableBypassPermissionsMode in its settings; as root also IS_SANDBOX=1)",
  },
  drivers: [
    driver({ id: "stream-json", input: "once", mode: "bypassPermissions" }),
    // The program asks before it uses a tool that its settings do not allow, so it needs no mode that some forbid.
    driver({ id: "control", input: "open", mode: "default" }),
  ],
  terminal: (request) => ({ argv: ["claude", ...terminalArguments(request)], env: quiet, input: "", files: [] }),
};

/** The guard is a hook in both: the program asks by itself only about tools that it holds for dangerous. */
function driver({ id, input, mode }: Pick<Driver, "id" | "input"> & { readonly mode: PermissionMode }): Driver {
  return {
    id,
    input,
    abilities: { resume: true, terminal: true, costLimit: true, tools: true },
    instructions: "file",
    steer: input === "once" ? null : ({ id, text }) => streamJsonInput(withoutMentions(text), id),
    launch: (request) => ({
      argv: ["claude", ...streamJsonArguments(request, mode), ...guardArguments(request)],
      env: { ...quiet, ...alone },
      input: streamJsonInput(withoutMentions(request.prompt)),
      files: [],
    }),
    reader: () => streamJsonReader(mode),
  };
}

const guardArguments = ({ guard }: LaunchRequest): string[] =>
  guard === null ? [] : ["--settings", JSON.stringify(guardSettings(guard))];

/** Hooks come on the command line: nothing needs to be put into the agent's worktree, and nothing is left there. */
function terminalArguments({ model, resume, instructions, tools, guard }: TerminalRequest): string[] {
  // Without the rules of turns: a person sits here, and what tools do is put on record by the hook itself.
  const settings = hookSettings({ failClosed: true, guard });
  const argv = ["--resume", resume, "--settings", JSON.stringify(settings)];
  if (tools !== null) argv.push("--strict-mcp-config", "--mcp-config", mcpServers(tools));
  if (model !== null) argv.push("--model", model);
  if (instructions !== null) argv.push("--append-system-prompt-file", instructions);
  return argv;
}

/**
 * The same prompt without anything that Claude Code takes for a mention. Where a word of a prompt starts with @ and is
 * the name of a file, it reads that file and shows it to the model before the model has said a word, past every guard;
 * and a prompt is mostly the text of others. Its own switches either leave a note that the person wants the file read,
 * or take away more than mentions. A backslash is what no version reads past, and the model is told of it.
 */
export function withoutMentions(prompt: string): string {
  const safe = prompt.replaceAll(mention, "\\@");
  return safe === prompt ? prompt : `${safe}\n\n${note}`;
}

/** An at sign behind a letter or a digit belongs to a mail address; anywhere else it may start a mention. */
const mention = /(?<![A-Za-z0-9_@\\])@(?=\S)/g;

const note = "In the text above a backslash before an at sign was put there on the way; it is not part of the text.";
