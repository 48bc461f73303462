import type { Capability } from "../agent/capability.ts";
import type { Refusal } from "../refusal.ts";

/**
 * The caller. Agents are known by their token, never by a name they state; a call without a token is the operator's.
 */
export type Caller =
  | { readonly kind: "operator"; readonly name: "operator" }
  | {
      readonly kind: "agent";
      readonly name: string;
      readonly agentId: string;
      readonly capability: Capability;
      readonly runId: string;
      readonly taskId: string | null;
      readonly turnId: string | null;
    }
  | { readonly kind: "engine"; readonly name: "system" };

export const operator: Caller = { kind: "operator", name: "operator" };
export const engineCaller: Caller = { kind: "engine", name: "system" };

/** What can be known of a caller where no store says whose token it shows. */
export interface UnknownCaller {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** It runs inside an agent, of this project or another. */
  readonly isMarked: boolean;
}

/**
 * Settings decide what agents may do and which gates their work must pass. So a process that speaks for an agent, or
 * runs inside one, may read them but not change them. Any token, an empty one too, marks a caller that is not the
 * operator.
 */
export function forbiddenToAgents({ env, isMarked }: UnknownCaller, action: string): Refusal | undefined {
  if (env.OVERSTORY_TOKEN === undefined && !isMarked) return undefined;
  const caller = env.OVERSTORY_AGENT_NAME ?? "an agent";
  return { kind: "not-allowed", action, caller, why: "that is for the operator" };
}
