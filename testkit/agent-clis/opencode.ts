import { type Fields, fields, text } from "../../src/runtimes/shared/json-fields.ts";
import { fakeKey, type Recipe, sum, type ToolServer } from "./recipe.ts";

/** OpenCode. */
export const opencode: Recipe = {
  version: "1.18.33",
  dialect: "messages",
  argv: ({ prompt, session }) => [
    ...["run", "--format", "json"],
    ...(session === undefined ? [] : ["-s", session]),
    prompt,
  ],
  env: ({ url, server }) => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      autoupdate: false,
      share: "disabled",
      model: "anthropic/claude-sonnet-4-5",
      small_model: "anthropic/claude-sonnet-4-5",
      enabled_providers: ["anthropic"],
      provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: fakeKey } } },
      ...(server === undefined ? {} : { mcp: mcpConfig(server) }),
    }),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  }),
  files: () => ({}),
  read: (lines) => {
    const parts = lines.map(({ type, part }) => ({ ...fields(part), type }) as Fields);
    const tokens = parts.flatMap(({ type, tokens }) => (type === "step_finish" ? [fields(tokens) ?? {}] : []));
    const error = fields(lines.find(({ type }) => type === "error")?.error);
    return {
      session: text(lines[0]?.sessionID),
      text: text(parts.findLast(({ type }) => type === "text")?.text),
      usage: {
        input: sum(tokens.map(({ input }) => input)),
        output: sum(tokens.map(({ output }) => output)),
        cacheRead: sum(tokens.map(({ cache }) => fields(cache)?.read)),
        cacheWrite: sum(tokens.map(({ cache }) => fields(cache)?.write)),
      },
      error: error === undefined ? undefined : (text(fields(error.data)?.message) ?? text(error.name)),
    };
  },
  usageIsOf: "turn",
  countsCacheWrites: true,
  nameOfTool: "lab_note",
  exitWhenRefused: 1,
  facts: [
    "Without a message it reads the prompt from an input that is no terminal.",
    "A plugin that cannot be loaded is left out without a word. The hook config of a plugin can change permission, also from deny to allow.",
    "The settings of npm (~/.npmrc, npm_config_*) count for its search for a package: with fetch-retries=0 it gives up at once.",
    "The program is bin/opencode of the package opencode-<os>-<cpu>; it needs no launcher.",
    "A request without tools, for a title, goes before the first answer.",
    "It tries a call of its model again for ever, after retry-after, and prints nothing meanwhile; a plugin hears of it (session.status).",
    "Each answer has figures of its own (step_finish); they are added up.",
    "Where the npm registry can be reached, it installs packages below the home during the turn.",
  ],
};

const mcpConfig = ({ name, command, args }: ToolServer) => ({
  [name]: { type: "local", command: [command, ...args], enabled: true },
});
