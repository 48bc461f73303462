import { join } from "node:path";
import { testWithCli } from "../../testkit/agent-clis/installed.ts";
import { buildersJourney, steeringFile } from "../../testkit/agent-clis/journey.ts";
import { fakeKey } from "../../testkit/agent-clis/recipe.ts";
import { recipes } from "../../testkit/agent-clis/recipes.ts";

const does = "over ACP reads its instructions, is held by the guard, uses our tools, commits, and is reopened";

testWithCli(
  "gemini",
  `the real Gemini ${does}`,
  (binDir) =>
    buildersJourney(
      {
        runtime: "gemini",
        driver: "acp",
        version: recipes.gemini.version,
        shell: ({ url }) => ({
          GEMINI_API_KEY: fakeKey,
          GOOGLE_GEMINI_BASE_URL: url,
          GEMINI_DEFAULT_AUTH_TYPE: "gemini-api-key",
        }),
        slingFlags: ["--model", "gemini-2.5-flash"],
        ownTool: (name) => `mcp_overstory_${name}`,
        edit: () => ({ tool: "write_file", input: { file_path: steeringFile, content: "x" } }),
        withoutReasons: true,
        losesConversations: true,
      },
      binDir,
    ),
  { timeoutMs: 180_000 },
);

testWithCli(
  "opencode",
  `the real OpenCode ${does}`,
  (binDir) =>
    buildersJourney(
      {
        runtime: "opencode",
        driver: "acp",
        version: recipes.opencode.version,
        shell: ({ url, home }) => {
          const { OPENCODE_CONFIG_CONTENT: _, ...env } = recipes.opencode.env({ url, home, server: undefined });
          return env;
        },
        files: ({ url, home }) => ({
          ".config/opencode/opencode.json":
            recipes.opencode.env({ url, home, server: undefined }).OPENCODE_CONFIG_CONTENT ?? "",
        }),
        ownTool: (name) => `overstory_${name}`,
        edit: (worktree) => ({ tool: "write", input: { filePath: join(worktree, steeringFile), content: "x" } }),
        countsLastAnswers: true,
      },
      binDir,
    ),
  { timeoutMs: 240_000 },
);

testWithCli(
  "copilot",
  `the real Copilot ${does}`,
  (binDir) =>
    buildersJourney(
      {
        runtime: "copilot",
        driver: "acp",
        version: recipes.copilot.version,
        shell: ({ url, home }) => recipes.copilot.env({ url, home, server: undefined }),
        ownTool: (name) => `overstory-${name}`,
        edit: (worktree) => ({ tool: "create", input: { path: join(worktree, steeringFile), file_text: "x" } }),
      },
      binDir,
    ),
  { timeoutMs: 180_000 },
);
