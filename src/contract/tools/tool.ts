import type { RoleSpec } from "../../domain/role/role-spec.ts";
import type { ToolName } from "../../domain/role/tools.ts";
import type { ObjectSchema } from "../../domain/schema/schema.ts";

/** One tool as an agent sees it. */
export interface Tool {
  readonly name: ToolName;
  /** The effect of the tool and when to use it. Keep it short: every agent pays for these words in every turn. */
  readonly description: string;
  readonly input: ObjectSchema;
  /** Changes nothing. */
  readonly readOnly: boolean;
}

/** A tool before it is known who will use it: the role decides what values make sense. */
export type ToolFor = (role: RoleSpec) => Omit<Tool, "name">;
