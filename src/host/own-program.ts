import { chmodSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { exactShellWord } from "../domain/text/shell-word.ts";
import type { ToolServer } from "../ports/runtime.ts";
import { readText, writeAtomically } from "./file-access.ts";

/**
 * How to start this very program again: the compiled binary, or from a checkout its launcher. Never the name `ov`,
 * which in a user's PATH may be another version.
 */
export function selfCommand(): readonly string[] {
  if (Bun.main.startsWith("/$bunfs/")) return [process.execPath];
  const launcher = resolve(import.meta.dir, "../../bin/ov");
  if (!existsSync(launcher)) throw new Error(`no launcher at ${launcher}`);
  return [launcher];
}

const keptVariables = [
  ...["HOME", "PATH", "USER", "LANG", "TMPDIR"],
  // Where git's configuration of this person is.
  ...["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"],
];

/** The variables that an engine or a supervisor keeps of the environment of the process that started it. */
export function serviceEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): Record<string, string> {
  const made: Record<string, string> = { OVERSTORY_PROJECT_ROOT: root };
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const ours = name.startsWith("OVERSTORY__") || name.startsWith("OVERSTORY_TEST_");
    if (ours || keptVariables.includes(name) || name.startsWith("XDG_")) made[name] = value;
  }
  return made;
}

/** Where agents find this `ov` first on their PATH, however it was started. */
export const shimDir = (state: string): string => join(state, "run", "bin");

/**
 * Puts it there, again before every turn: an agent could have written something else, for others to run with their
 * tokens. What guards agents, and the tools they are given, never go by it.
 */
export function placeOvShim(state: string): void {
  const shim = join(shimDir(state), "ov");
  const command = selfCommand().map(exactShellWord).join(" ");
  const text = `#!/bin/sh\nexec ${command} "$@"\n`;
  // Not written again as it is: an engine that starts on a full disk should find its work, not fail at this.
  if (readText(shim) === text) return;
  writeAtomically(shim, text, 0o755);
  chmodSync(shim, 0o755);
}

/** How an agent's program starts `ov mcp`. It holds no secret: the server reads the agent's token from its environment. */
export function toolServer(): ToolServer {
  const [command = "ov", ...words] = selfCommand();
  return {
    name: "overstory",
    command,
    args: [...words, "mcp"],
    env: [
      "HOME",
      "PATH",
      "OVERSTORY_TOKEN",
      "OVERSTORY_PROJECT_ROOT",
      "OVERSTORY_AGENT_NAME",
      "OVERSTORY_TURN_ID",
      "OVERSTORY_CHANNEL",
    ],
  };
}

/**
 * To be called by what lives longer than a command: from here on code that runs often is compiled. The program starts
 * without, for most of its lives are over before that would pay. `reluctance`: how many times as often as usual code must
 * run before it is compiled.
 */
export function settleIn({ reluctance = 1 }: { readonly reluctance?: number } = {}): void {
  Bun.unsafe.setJITPolicy(reluctance);
}
