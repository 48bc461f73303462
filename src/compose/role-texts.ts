import { readFileSync, statSync } from "node:fs";
import builder from "../../agents/builder.md" with { type: "text" };
import coordinator from "../../agents/coordinator.md" with { type: "text" };
import lead from "../../agents/lead.md" with { type: "text" };
import merger from "../../agents/merger.md" with { type: "text" };
import monitor from "../../agents/monitor.md" with { type: "text" };
import orchestrator from "../../agents/orchestrator.md" with { type: "text" };
import reviewer from "../../agents/reviewer.md" with { type: "text" };
import scout from "../../agents/scout.md" with { type: "text" };
import { type RoleText, roleTextFrom } from "../domain/role/override.ts";
import type { Role } from "../domain/role/role-spec.ts";
import { randomIds } from "../host/ids.ts";

/** The role texts that ship with the program. */
export const builtInTexts: Readonly<Record<Role, string>> = {
  orchestrator,
  coordinator,
  lead,
  scout,
  builder,
  reviewer,
  merger,
  monitor,
};

/** Where a project keeps its own texts of a role. Only people write there. */
export const ownTextFiles = (
  baseDir: string,
  role: Role,
): { readonly replacement: string; readonly addition: string } => ({
  replacement: `${baseDir}/${role}.md`,
  addition: `${baseDir}/${role}.local.md`,
});

/** The text of a role that counts in the project whose texts are in this directory. */
export function readRoleText(baseDir: string, role: Role): RoleText {
  const builtIn = builtInTexts[role];
  const files = ownTextFiles(baseDir, role);
  return roleTextFrom({
    role,
    builtIn,
    hash: randomIds.digest(builtIn),
    replacement: textIfThere(files.replacement),
    addition: textIfThere(files.addition),
  });
}

/** Undefined when there is no such file. */
export const textIfThere = (path: string): string | undefined =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, "utf8") : undefined;
