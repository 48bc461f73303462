import type { Refusal } from "../refusal.ts";

/**
 * Settings decide what agents may do and which gates their work must pass, so a process that speaks for an agent may
 * read them but not change them.
 */
export function forbiddenToAgents(
  env: Readonly<Record<string, string | undefined>>,
  action: string,
): Refusal | undefined {
  if ((env.OVERSTORY_TOKEN ?? "") === "") return undefined;
  const caller = env.OVERSTORY_AGENT_NAME ?? "an agent";
  return { kind: "not-allowed", action, caller, why: "that is for the operator" };
}
