import { type GuardRule, guardRules } from "../../domain/guard/tool-use.ts";
import { type HookInput, toolFacts } from "../../domain/hook/hook.ts";
import { ok } from "../../domain/result.ts";
import { fields, oneOf, orNull } from "../../domain/schema/schema.ts";
import { byCaller, record } from "../events/record.ts";
import type { UseCase } from "../usecase.ts";
import { hookInput } from "./report.ts";

export interface DeniedUse {
  readonly rule: GuardRule;
  /** Null when the hook was told nothing that can be read. */
  readonly input: HookInput | null;
}

/** An agent was kept from using a tool: put on record, so that a person sees what was tried and by whom. */
export const recordDenial: UseCase<DeniedUse, { readonly rule: GuardRule }> = {
  kind: "write",
  request: fields({ rule: oneOf(guardRules), input: orNull(hookInput) }),
  run: async (tx, { caller, now }, { rule, input }) => {
    if (caller.kind !== "agent") return ok({ rule });
    const data = { rule, ...toolFacts(input ?? {}) };
    await record(tx, now, { ...byCaller(caller), source: "hook", type: "guard_denied", level: "warn", data });
    return ok({ rule });
  },
};
