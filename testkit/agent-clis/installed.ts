import { test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Glob } from "bun";
import type { recipes } from "./recipes.ts";

export type AgentCli = keyof typeof recipes;

/** The program of each CLI in its directory; `scripts/install-clis` says which package and version is there. */
const programs: Readonly<Record<AgentCli, string>> = {
  claude: "@anthropic-ai/claude-code-*/claude",
  "claude-2.1.197": "@anthropic-ai/claude-code-*/claude",
  codex: "@openai/codex/vendor/*/bin/codex",
  gemini: ".bin/gemini",
  opencode: "opencode-*/bin/opencode",
  pi: ".bin/pi",
  copilot: "@github/copilot-*/copilot",
};

/** Where they are installed: a directory of their own, so that nothing of ours can come to depend on them. */
const installed = resolve(import.meta.dir, "../../node_modules/.cache/clis");

const variableOf = (cli: AgentCli): string => `OVERSTORY_TEST_${cli.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;

/**
 * A test that runs the real CLI, which is called `claude` and so on in the directory that the body is given. Where the CLI is not
 * installed the test is skipped and says so; in CI a skip would hide that we no longer fit, so there it fails.
 */
export function testWithCli(
  cli: AgentCli,
  name: string,
  body: (binDir: string) => Promise<void>,
  { timeoutMs }: { readonly timeoutMs: number },
): void {
  const found = findCli(cli);
  if (found === undefined) skipWithoutCli(cli, name);
  else test(name, () => body(dirname(found)), timeoutMs);
}

/** The same for a test whose CLI was looked for already. */
export function skipWithoutCli(cli: AgentCli, name: string): void {
  const missing = `the CLI ${cli} is not installed (scripts/install-clis, or ${variableOf(cli)}=<path>); not tested: ${name}`;
  if (process.env.CI === "true") {
    test(name, () => {
      throw new Error(missing);
    });
    return;
  }
  console.warn(`SKIPPED: ${missing}`);
  test.skip(name, () => {});
}

export function findCli(cli: AgentCli): string | undefined {
  const given = process.env[variableOf(cli)];
  if (given !== undefined && given !== "") return resolve(given);
  const dir = join(installed, cli, "node_modules");
  const program = programs[cli];
  // The links that npm makes are no files to a glob.
  if (!program.includes("*")) return existsSync(join(dir, program)) ? join(dir, program) : undefined;
  const [found] = existsSync(dir) ? new Glob(program).scanSync(dir) : [];
  return found === undefined ? undefined : join(dir, found);
}
