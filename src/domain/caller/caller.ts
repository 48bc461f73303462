import type { Capability } from "../agent/capability.ts";

/** Who asks. Agents are known by their token, never by a name they state; a call without a token is the operator's. */
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
