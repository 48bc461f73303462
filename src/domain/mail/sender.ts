import { type Capability, capabilities, capabilityClasses } from "../agent/capability.ts";
import type { Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { type MailType, mailTypes } from "./types.ts";

const anybody = capabilities;
const heads: readonly Capability[] = ["lead", "supervisor", "coordinator", "orchestrator"];

/**
 * Which agents may send which type. The operator and the engine may send every type; a type with an empty list comes
 * from the engine alone. `merge_ready` is an approval, so it belongs to agents that may be a worker's parent.
 */
export const typeSenders: Readonly<Record<MailType, readonly Capability[]>> = {
  status: anybody,
  question: anybody,
  result: anybody,
  error: anybody,
  escalation: anybody,
  decision_gate: anybody,
  worker_done: [...capabilityClasses.taskScoped.filter((capability) => capability !== "merger"), "supervisor"],
  worker_died: [],
  merge_ready: ["lead", "supervisor", "coordinator"],
  merged: ["merger", "coordinator"],
  merge_failed: ["merger", "coordinator"],
  health_check: [...heads, "monitor"],
  dispatch: heads,
  assign: heads,
  review: ["reviewer", "lead", "supervisor", "coordinator"],
  decision: heads,
  shutdown: ["coordinator", "orchestrator"],
  spec_ready: ["scout", "lead", "supervisor", "coordinator"],
};

/** The types an agent of this capability may send, in the order of the protocol. */
export const typesOf = (capability: Capability): readonly MailType[] =>
  mailTypes.filter((type) => typeSenders[type].includes(capability));

/** May a sender of this capability send that type? Null stands for the operator and the engine: no table binds them. */
export function checkSender(type: MailType, capability: Capability | null): Result<MailType, Refusal> {
  if (capability === null || typeSenders[type].includes(capability)) return ok(type);
  return no({ kind: "type-not-yours", type, capability, allowed: typesOf(capability) });
}
