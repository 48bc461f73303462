import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import type { Recipe } from "./recipe.ts";

/** The agent CLIs that tests run for real. `scripts/install-clis` installs the same versions. */
export const recipes = {
  claude: { ...claude, version: "2.1.325" },
  "claude-2.1.197": { ...claude, version: "2.1.197" },
  codex,
  gemini,
  opencode,
  pi,
  copilot,
} satisfies Readonly<Record<string, Recipe>>;
