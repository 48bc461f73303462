import { type Fields, fields, text } from "../../src/runtimes/shared/json-fields.ts";
import { fakeKey, type Recipe, sum, type ToolServer, usageFileOf } from "./recipe.ts";

/** Copilot CLI, with a provider of its own. */
export const copilot: Recipe = {
  version: "1.0.102",
  dialect: "messages",
  argv: ({ prompt, session, home, server }) => [
    ...["-p", prompt, "--allow-all-tools", "--output-format", "json", "--no-color"],
    ...["--usage-output-file", usageFileOf(home)],
    ...(session === undefined ? [] : [`--resume=${session}`]),
    ...(server === undefined ? [] : ["--additional-mcp-config", mcpConfig(server)]),
  ],
  env: ({ url }) => ({
    COPILOT_OFFLINE: "true",
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_PROVIDER_TYPE: "anthropic",
    COPILOT_PROVIDER_API_KEY: fakeKey,
    COPILOT_MODEL: "claude-sonnet-4.5",
    COPILOT_AUTO_UPDATE: "false",
  }),
  files: () => ({}),
  read: (lines, usageFile) => {
    const usages = Object.values(fields(usageFile.modelMetrics) ?? {}).map(
      (metrics) => fields(fields(metrics)?.usage) ?? {},
    );
    const [cacheRead, cacheWrite] = [
      sum(usages.map(({ cacheReadTokens }) => cacheReadTokens)),
      sum(usages.map(({ cacheWriteTokens }) => cacheWriteTokens)),
    ];
    const data = (kind: string): Fields => fields(lines.findLast(({ type }) => type === kind)?.data) ?? {};
    return {
      session: text(lines.findLast(({ type }) => type === "result")?.sessionId),
      text: text(data("assistant.message").content),
      usage: {
        input: sum(usages.map(({ inputTokens }) => inputTokens)) - cacheRead - cacheWrite,
        output: sum(usages.map(({ outputTokens }) => outputTokens)),
        cacheRead,
        cacheWrite,
      },
      error: text(data("session.error").message),
    };
  },
  usageIsOf: "session",
  countsCacheWrites: true,
  nameOfTool: "lab-note",
  exitWhenRefused: 1,
  facts: [
    "Without -p it reads the prompt from an input that is no terminal; no @ in it is a mention.",
    "Hooks of a plugin (--plugin-dir) need no trust, and disableAllHooks of the user does not switch them off.",
    "A hook that exits with 2 denies, and its model sees only the exit code; permissionDecisionReason in JSON on its output is shown. A hook that is killed or exits with 1 denies; one that takes longer than timeoutSec lets the tool run.",
    "Its shell tool gets a PATH of the system, whatever PATH it was started with; with --bash-env on, BASH_ENV is heeded.",
    "A relative --usage-output-file is relative to the directory of the session. The file is written after a failure too.",
    "The program is the file copilot of the package @github/copilot-<os>-<cpu>; it brings its own Node and needs no launcher.",
    "In a new home it unpacks 235 MB to ~/.cache/copilot (XDG_CACHE_HOME moves that) before its first turn: 1.5 s of CPU.",
    "The stream has no tokens; they are in the file that --usage-output-file names, and inputTokens includes those of the cache.",
    "SIGTERM while it waits to try again ends it with exit code 0 and no result.",
    "A refused key is tried three times; session.error then has its own words and statusCode 401, not those of the API.",
    "A 429 is tried again for more than a minute, with model.call_failure and assistant.turn_retry as signs of life.",
  ],
};

const mcpConfig = ({ name, command, args }: ToolServer): string =>
  JSON.stringify({ mcpServers: { [name]: { type: "local", command, args, tools: ["*"] } } });
