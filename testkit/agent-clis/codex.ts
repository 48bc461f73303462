import { join } from "node:path";
import { fields, number, text } from "../../src/runtimes/shared/json-fields.ts";
import { fakeKey, type Recipe, type ToolServer } from "./recipe.ts";

/** Codex, `codex exec`. */
export const codex: Recipe = {
  version: "0.166.0",
  dialect: "responses",
  argv: ({ prompt, session, server }) => [
    ...["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--disable", "apps", "--disable", "plugins"],
    ...(server === undefined ? [] : ["-c", mcpConfig(server)]),
    ...(session === undefined ? [] : ["resume", session]),
    prompt,
  ],
  env: ({ home }) => ({ CODEX_HOME: join(home, ".codex"), FAKE_KEY: fakeKey }),
  files: ({ url }) => ({ ".codex/config.toml": codexConfig(url) }),
  read: (lines) => {
    const messages = lines.flatMap(({ type, item }) => (type === "item.completed" ? [fields(item) ?? {}] : []));
    const usage = fields(lines.find(({ type }) => type === "turn.completed")?.usage) ?? {};
    const [cacheRead, cacheWrite] = [usage.cached_input_tokens, usage.cache_write_input_tokens].map(
      (count) => number(count) ?? 0,
    ) as [number, number];
    return {
      session: text(lines.find(({ type }) => type === "thread.started")?.thread_id),
      text: text(messages.findLast(({ type }) => type === "agent_message")?.text),
      usage: {
        input: (number(usage.input_tokens) ?? 0) - cacheRead - cacheWrite,
        output: number(usage.output_tokens) ?? 0,
        cacheRead,
        cacheWrite,
      },
      error: text(fields(lines.find(({ type }) => type === "turn.failed")?.error)?.message),
    };
  },
  usageIsOf: "session",
  countsCacheWrites: true,
  nameOfTool: "mcp__lab__note",
  exitWhenRefused: 1,
  facts: [
    "The program of the npm package is vendor/<target>/bin/codex of the package <version>-<os>-<cpu>; it needs no launcher.",
    "CODEX_HOME must exist.",
    "It refuses a command with rm -f by itself, also where approvals and sandbox are bypassed; no item tells so, only its model.",
    "Killed in its first minute it may not have kept the conversation: no rollout found.",
    "The tools of an MCP server are a namespace: the model calls note in mcp__lab.",
    "A command runs in a login shell (/bin/bash -lc), which may set PATH anew.",
    "input_tokens includes what was read from the cache and what was written to it; both have figures of their own.",
    "A limit that says when it ends (error.type usage_limit_reached, resets_at) fails the turn at once; the stream has the time only as words: Try again at 10:09 PM.",
    "A 429 that says no reset is tried again as often as request_max_retries says, after retry-after.",
    "An item of type error about model metadata comes first and means nothing.",
  ],
};

const codexConfig = (url: string): string => `model = "gpt-5.2"
model_provider = "fake"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "${url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 5000
[analytics]
enabled = false
`;

/** A value of TOML; a list of strings is written as in JSON. */
const mcpConfig = ({ name, command, args }: ToolServer): string =>
  `mcp_servers.${name}={command=${JSON.stringify(command)},args=${JSON.stringify(args)}}`;
