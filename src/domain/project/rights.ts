import type { Refusal } from "../refusal.ts";

/** What can be known of a caller where no store says whose token it shows. */
export interface UnknownCaller {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** It runs inside some agent, of whatever project. */
  readonly isMarked: boolean;
}

/**
 * Settings decide what agents may do and which gates their work must pass, so a process that speaks for an agent, or
 * runs inside one, may read them but not change them. Any token is somebody else's than the operator's, an empty one too.
 */
export function forbiddenToAgents({ env, isMarked }: UnknownCaller, action: string): Refusal | undefined {
  if (env.OVERSTORY_TOKEN === undefined && !isMarked) return undefined;
  const caller = env.OVERSTORY_AGENT_NAME ?? "an agent";
  return { kind: "not-allowed", action, caller, why: "that is for the operator" };
}
