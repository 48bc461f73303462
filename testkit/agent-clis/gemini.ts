import { type Fields, fields, number, text } from "../../src/runtimes/shared/json-fields.ts";
import { fakeKey, type Recipe, type ToolServer } from "./recipe.ts";

/** Gemini CLI. */
export const gemini: Recipe = {
  version: "0.61.0",
  dialect: "gemini",
  argv: ({ prompt, session }) => [
    ...["-p", prompt, "-o", "stream-json", "-m", "gemini-2.5-flash", "--yolo"],
    ...(session === undefined ? [] : ["--resume", session]),
  ],
  env: ({ url }) => ({
    GEMINI_API_KEY: fakeKey,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    GEMINI_CLI_NO_RELAUNCH: "true",
  }),
  files: ({ server }) => ({
    ".gemini/settings.json": JSON.stringify({
      general: { enableAutoUpdate: false, sessionRetention: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "gemini-api-key" } },
      ...(server === undefined ? {} : { mcpServers: mcpConfig(server) }),
    }),
  }),
  read: (lines) => {
    const result = lines.findLast(({ type }) => type === "result") ?? {};
    const stats = fields(result.stats) ?? {};
    const isText = ({ type, role }: Fields): boolean => type === "message" && role === "assistant";
    const afterTools = lines.findLastIndex(({ type }) => type === "tool_result") + 1;
    const said = lines.slice(afterTools).filter(isText);
    return {
      session: text(lines.find(({ type }) => type === "init")?.session_id),
      text: said.map(({ content }) => text(content) ?? "").join(""),
      usage: {
        input: number(stats.input) ?? 0,
        output: number(stats.output_tokens) ?? 0,
        cacheRead: number(stats.cached) ?? 0,
        cacheWrite: 0,
      },
      error: result.status === "error" ? text(fields(result.error)?.message) : undefined,
    };
  },
  usageIsOf: "turn",
  countsCacheWrites: false,
  nameOfTool: "mcp_lab_note",
  exitWhenRefused: 401 & 255,
  facts: [
    "A file of system settings (GEMINI_CLI_SYSTEM_SETTINGS_PATH) is skipped, with a warning, unless it and all directories above it are root's and writable by root alone.",
    "GEMINI_CLI_HOME moves everything that is its user's; links in it to the real ~/.gemini are followed, except projects.json, which is replaced.",
    "A hook that exits with 2 and prints nothing, that is killed, or that takes longer than its timeout (milliseconds) lets the tool run.",
    "Settings may take values from variables, as a shell does. Names with TOKEN in them reach an MCP server only when they are named in its env.",
    "Any @ before the name of a file in the prompt, also in a mail address, shows that file to the model; a backslash before it does not.",
    "With an address of its own (GOOGLE_GEMINI_BASE_URL) and no selectedType it exits with 41: Invalid auth method selected.",
    "Its shell tool hides the configuration of git: GIT_CONFIG_GLOBAL and GIT_CONFIG_SYSTEM are /dev/null, and core.hooksPath is empty. A commit needs an author from GIT_AUTHOR_* and GIT_COMMITTER_*, or from the repository.",
    "Its shell tool hands GEMINI_API_KEY on to commands.",
    "A limit that ends in 900 s fails the turn at once, exit code 429 & 255; the stream has the time only as words: Suggested retry after 900s.",
    "The words of an answer that was cut stay in its stream, before those of the answer that replaces it.",
    "Its shell tool refuses $(…), backquotes and <(…) in a command.",
    "The same call five times, or words that repeat themselves, count as a loop: the turn ends there, with success.",
    "Without a file of any conversation --resume says: No previous sessions found for this project.",
    "Without a proxy that refuses, it asks the npm registry for updates.",
  ],
};

const mcpConfig = ({ name, command, args }: ToolServer) => ({ [name]: { command, args, trust: true } });
