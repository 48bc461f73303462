import { test } from "bun:test";
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Glob } from "bun";

/** Agent CLIs that tests run for real. `scripts/ci-deps` installs them. */
const clis = {
  claude: {
    variable: "OVERSTORY_TEST_CLAUDE",
    // The launcher becomes a program only by an install script, which may never have run; this is what it would start.
    binary: "@anthropic-ai/claude-code-*/claude",
  },
} as const;

/** Where they are installed: a directory of their own, so that nothing of ours can come to depend on them. */
const installed = resolve(import.meta.dir, "../node_modules/.cache/clis/node_modules");

export type AgentCli = keyof typeof clis;

/**
 * A test that runs the real CLI, which is called `claude` and so on in the directory it is given. Where the CLI is not
 * installed the test is skipped and says so; in CI a skip would hide that we no longer fit, so there it fails.
 */
export function testWithCli(
  cli: AgentCli,
  name: string,
  body: (binDir: string) => Promise<void>,
  { timeoutMs }: { readonly timeoutMs: number },
): void {
  const found = findCli(cli);
  if (found !== undefined) {
    test(name, () => body(dirname(found)), timeoutMs);
    return;
  }
  const missing = `the CLI ${cli} is not installed (scripts/ci-deps, or ${clis[cli].variable}=<path>); not tested: ${name}`;
  if (process.env.CI === "true") {
    test(name, () => {
      throw new Error(missing);
    });
    return;
  }
  console.warn(`SKIPPED: ${missing}`);
  test.skip(name, () => {});
}

function findCli(cli: AgentCli): string | undefined {
  const { variable, binary } = clis[cli];
  const given = process.env[variable];
  if (given !== undefined && given !== "") return resolve(given);
  if (!existsSync(installed)) return undefined;
  const candidates = [...new Glob(binary).scanSync(installed)].map((path) => join(installed, path));
  return candidates.find(runs);
}

/** A package for another C library may lie beside the one for this machine; only trying tells. */
function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return Bun.spawnSync([path, "--version"], { env: { HOME: "/nonexistent", PATH: "/usr/bin:/bin" } }).success;
  } catch {
    // Not executable, or not for this system: not the one that is looked for.
    return false;
  }
}
