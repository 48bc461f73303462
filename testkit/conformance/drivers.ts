import { join } from "node:path";
import { noTokens } from "../../src/domain/budget/usage.ts";
import { fakeKey } from "../agent-clis/recipe.ts";
import { recipes } from "../agent-clis/recipes.ts";
import type { Usage } from "../fake-model/script.ts";
import type { KitDriver } from "./driver.ts";
import { stage } from "./scripted.ts";

/** What holds for most programs. */
const usual = {
  files: () => ({}),
  counted: (usage: Usage) => usage,
  cost: () => null,
  silenceMs: 20_000,
  tellsUsageEarly: true,
  steers: false,
  namesSessionEarly: true,
  tellsReset: false,
  skips: {},
  stage: null,
} satisfies Partial<KitDriver>;

/** Vendor prices in dollars for a million tokens. */
const priced =
  (input: number, output: number, cacheRead: number, cacheWrite: number) =>
  (usage: Usage): number =>
    (usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite) / 1e6;

/** A wire format that knows no writing to a cache has these tokens as input. */
const withoutCacheWrites = (usage: Usage): Usage => ({
  ...usage,
  input: usage.input + usage.cacheWrite,
  cacheWrite: 0,
});

const claude: KitDriver = {
  ...usual,
  id: "claude-2.1.325",
  runtime: "claude",
  driver: "stream-json",
  cli: "claude",
  version: "2.1.325",
  dialect: "messages",
  shell: ({ url, home }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: fakeKey,
    CLAUDE_CODE_MAX_RETRIES: "3",
    CLAUDE_CODE_TMPDIR: home,
  }),
  model: { flag: "claude-sonnet-4-5", wire: "claude-sonnet-4-5" },
  edit: (path) => ({ tool: "Write", input: { file_path: path, content: "x" } }),
  cost: priced(3, 15, 0.3, 3.75),
};

const gemini: KitDriver = {
  ...usual,
  id: "gemini",
  runtime: "gemini",
  driver: "exec-json",
  cli: "gemini",
  version: recipes.gemini.version,
  dialect: recipes.gemini.dialect,
  shell: ({ url }) => ({
    GEMINI_API_KEY: fakeKey,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_DEFAULT_AUTH_TYPE: "gemini-api-key",
  }),
  model: { flag: "gemini-2.5-flash", wire: "gemini-2.5-flash" },
  edit: (path) => ({ tool: "write_file", input: { file_path: path, content: "x" } }),
  counted: withoutCacheWrites,
  tellsUsageEarly: false,
  tellsReset: true,
};

const opencode: KitDriver = {
  ...usual,
  id: "opencode",
  runtime: "opencode",
  driver: "exec-json",
  cli: "opencode",
  version: recipes.opencode.version,
  dialect: recipes.opencode.dialect,
  shell: ({ url, home }) => {
    const { OPENCODE_CONFIG_CONTENT: _, ...env } = recipes.opencode.env({ url, home, server: undefined });
    return env;
  },
  files: ({ url, home }) => ({
    ".config/opencode/opencode.json":
      recipes.opencode.env({ url, home, server: undefined }).OPENCODE_CONFIG_CONTENT ?? "",
    // It looks for a package at its start, and where there is no network for more than a minute.
    ".npmrc": "fetch-retries=0\n",
  }),
  model: { flag: "anthropic/claude-sonnet-4-5", wire: "claude-sonnet-4-5" },
  edit: (path) => ({ tool: "write", input: { filePath: path, content: "x" } }),
  cost: priced(3, 15, 0.3, 3.75),
  silenceMs: 60_000,
  tellsReset: true,
};

const copilot: KitDriver = {
  ...usual,
  id: "copilot",
  runtime: "copilot",
  driver: "exec-json",
  cli: "copilot",
  version: recipes.copilot.version,
  dialect: recipes.copilot.dialect,
  shell: ({ url, home }) => recipes.copilot.env({ url, home, server: undefined }),
  model: { flag: "claude-sonnet-4.5", wire: "claude-sonnet-4.5" },
  edit: (path) => ({ tool: "create", input: { path, file_text: "x" } }),
  tellsUsageEarly: false,
  namesSessionEarly: false,
};

/** Every driver that the kit tries. A further one is a further entry. */
export const drivers: readonly KitDriver[] = [
  {
    ...usual,
    id: "scripted",
    runtime: "scripted:control",
    driver: "control",
    cli: null,
    version: "2.1.325",
    dialect: "messages",
    shell: () => ({}),
    model: { flag: "claude-sonnet-4-5", wire: "claude-sonnet-4-5" },
    edit: (path) => ({ tool: "Write", input: { file_path: path, content: "x" } }),
    cost: priced(4, 20, 0.2, 5),
    steers: true,
    tellsReset: true,
    stage,
  },
  claude,
  { ...claude, id: "claude-2.1.197", cli: "claude-2.1.197", version: "2.1.197" },
  {
    ...usual,
    id: "codex",
    runtime: "codex",
    driver: "exec-json",
    cli: "codex",
    version: recipes.codex.version,
    dialect: recipes.codex.dialect,
    shell: ({ home }) => ({ CODEX_HOME: join(home, ".codex"), OPENAI_API_KEY: fakeKey }),
    files: ({ url, home }) => withKey(recipes.codex.files({ url, home, server: undefined })),
    model: { flag: "gpt-5.1", wire: "gpt-5.1" },
    skips: { "long-answer": "codex exec prints nothing while its model answers; only the limit of silence bounds it." },
    edit: (path) => ({ shell: `apply_patch <<'X'\n*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\nX` }),
    tellsUsageEarly: false,
  },
  gemini,
  {
    ...gemini,
    id: "gemini-acp",
    runtime: "gemini:acp",
    driver: "acp",
    // What was read from a cache is not told apart.
    counted: (usage) => ({
      ...noTokens,
      input: usage.input + usage.cacheRead + usage.cacheWrite,
      output: usage.output,
    }),
    tellsReset: false,
    skips: {
      "guard-denies": "Gemini tells its model that a tool was cancelled by the user, whatever reason it is given.",
      "tool-events": "Over ACP Gemini says that a command has ended, and not whether it failed.",
    },
  },
  opencode,
  { ...opencode, id: "opencode-acp", runtime: "opencode:acp", driver: "acp" },
  {
    ...usual,
    id: "pi",
    runtime: "pi",
    driver: "exec-json",
    cli: "pi",
    version: recipes.pi.version,
    dialect: recipes.pi.dialect,
    shell: () => ({ OPENAI_API_KEY: fakeKey }),
    files: ({ url, home }) => withKey(recipes.pi.files({ url, home, server: undefined })),
    model: { flag: "fake/fake-model", wire: "fake-model" },
    edit: (path) => ({ tool: "write", input: { path, content: "x" } }),
    counted: withoutCacheWrites,
    cost: (usage) => priced(1, 2, 0, 0)(withoutCacheWrites(usage)),
    tellsReset: true,
    skips: { "own-tools": "Pi starts no MCP server; its agents use ov in their shell." },
  },
  copilot,
  { ...copilot, id: "copilot-acp", runtime: "copilot:acp", driver: "acp" },
];

/** The program is to take its key from a variable that agents are given. */
const withKey = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replace("FAKE_KEY", "OPENAI_API_KEY")]));
