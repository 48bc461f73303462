import { chmodSync } from "node:fs";
import { join } from "node:path";
import { exactShellWord } from "../domain/text/shell-word.ts";
import { writeAtomically } from "../host/atomic-file.ts";
import { readText } from "../host/read-text.ts";
import type { Project } from "./project.ts";
import { selfCommand } from "./self.ts";

/** Where agents find this `ov` first on their PATH, however it was started. */
export const shimDir = ({ dir }: Pick<Project, "dir">): string => join(dir, "run", "bin");

/**
 * Puts it there, again before every turn: an agent could have written something else, for others to run with their
 * tokens. What guards agents, and the tools they are given, never go by it.
 */
export function placeOvShim(project: Pick<Project, "dir">): void {
  const shim = join(shimDir(project), "ov");
  const command = selfCommand().map(exactShellWord).join(" ");
  const text = `#!/bin/sh\nexec ${command} "$@"\n`;
  // Not written again as it is: an engine that starts on a full disk should find its work, not fail at this.
  if (readText(shim) === text) return;
  writeAtomically(shim, text, 0o755);
  chmodSync(shim, 0o755);
}
