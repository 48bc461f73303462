import type { RoleSpec } from "../../domain/role/role-spec.ts";
import type { ToolName } from "../../domain/role/tools.ts";
import { codeTools } from "./code.ts";
import { finishTool } from "./finish.ts";
import { mailTools } from "./mail.ts";
import { teamTools } from "./team.ts";
import type { Tool, ToolFor } from "./tool.ts";
import { workTools } from "./work.ts";

/** Tools that no build offers yet: the program does not store the data they need. */
export const undefinedTools = ["expertise_search", "learn"] as const satisfies readonly ToolName[];

export type DefinedTool = Exclude<ToolName, (typeof undefinedTools)[number]>;

const definitions: Readonly<Record<DefinedTool, ToolFor>> = {
  ...mailTools,
  ...workTools,
  ...teamTools,
  ...codeTools,
  finish: finishTool,
};

/** The tool of this name as an agent of this role gets it; undefined for a name that is no tool. */
export function toolFor(name: string, role: RoleSpec): Tool | undefined {
  return isDefined(name) ? { name, ...definitions[name](role) } : undefined;
}

export const isDefined = (name: string): name is DefinedTool => Object.hasOwn(definitions, name);

export const definedTools: readonly DefinedTool[] = Object.keys(definitions).filter(isDefined);
