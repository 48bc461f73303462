import { existsSync } from "node:fs";
import { resolve } from "node:path";

/**
 * How to start this very program again: the compiled binary, or from a checkout its launcher. Never the name `ov`,
 * which in somebody's PATH may be another version.
 */
export function selfCommand(): readonly string[] {
  if (Bun.main.startsWith("/$bunfs/")) return [process.execPath];
  const launcher = resolve(import.meta.dir, "../../bin/ov");
  if (!existsSync(launcher)) throw new Error(`no launcher at ${launcher}`);
  return [launcher];
}

const kept = [
  ...["HOME", "PATH", "USER", "LANG", "TMPDIR"],
  // Where git's configuration of this person is.
  ...["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"],
];

/** What engine and supervisors keep of the environment of whoever happened to start them. */
export function serviceEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): Record<string, string> {
  const made: Record<string, string> = { OVERSTORY_PROJECT_ROOT: root };
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const ours = name.startsWith("OVERSTORY__") || name.startsWith("OVERSTORY_TEST_");
    if (ours || kept.includes(name) || name.startsWith("XDG_")) made[name] = value;
  }
  return made;
}
