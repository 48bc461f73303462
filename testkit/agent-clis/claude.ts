import { join } from "node:path";
import { fields, number, text } from "../../src/runtimes/shared/json-fields.ts";
import { fakeKey, type Recipe, type ToolServer } from "./recipe.ts";

/** Claude Code. */
export const claude: Omit<Recipe, "version"> = {
  dialect: "messages",
  argv: ({ prompt, session, server }) => [
    "-p",
    prompt,
    ...["--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"],
    ...(session === undefined ? [] : ["--resume", session]),
    ...(server === undefined ? [] : ["--strict-mcp-config", "--mcp-config", mcpConfig(server)]),
  ],
  env: ({ url, home }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: fakeKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
    CLAUDE_CODE_TMPDIR: join(home, "tmp"),
    ...(process.getuid?.() === 0 ? { IS_SANDBOX: "1" } : {}),
  }),
  files: () => ({}),
  read: (lines) => {
    const result = lines.findLast(({ type }) => type === "result") ?? {};
    const usage = fields(result.usage) ?? {};
    return {
      session: text(result.session_id),
      text: text(result.result),
      usage: {
        input: number(usage.input_tokens) ?? 0,
        output: number(usage.output_tokens) ?? 0,
        cacheRead: number(usage.cache_read_input_tokens) ?? 0,
        cacheWrite: number(usage.cache_creation_input_tokens) ?? 0,
      },
      error: result.is_error === true ? text(result.result) : undefined,
    };
  },
  usageIsOf: "turn",
  countsCacheWrites: true,
  nameOfTool: "mcp__lab__note",
  exitWhenRefused: 1,
  facts: [
    "A limit's reset comes as a rate_limit_event only where the login is a token (CLAUDE_CODE_OAUTH_TOKEN); with a key the same answer of the API says nothing about it.",
    "2.1.325 shows the model the tools of an MCP server only after a search for them, unless the server says alwaysLoad.",
    "After an answer that was cut 2.1.325 asks again for a stream and adds the tokens of both to its usage; 2.1.197 asks for a whole answer and says that it used none.",
    "As root bypassPermissions needs IS_SANDBOX=1.",
  ],
};

const mcpConfig = ({ name, command, args }: ToolServer): string =>
  JSON.stringify({ mcpServers: { [name]: { command, args, alwaysLoad: true } } });
