import { ruleWords } from "../../domain/guard/rules.ts";
import { type GuardRule, guardRules } from "../../domain/guard/tool-use.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { invalid, notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, whole } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";

export interface ExplainedDenial {
  readonly event: number;
  readonly at: number;
  readonly agentName: string | null;
  readonly turnId: string | null;
  readonly tool: string | null;
  /** What the tool was to be used on, in one short line. */
  readonly summary: string | null;
  readonly ruleId: GuardRule;
  /** The part of a command that was meant. Null for events of earlier versions, and for tools without commands. */
  readonly of: string | null;
  /** What the agent was told. Null for events of earlier versions. */
  readonly reason: string | null;
  readonly means: string;
  readonly instead: string;
}

/** Why a use of a tool was denied, by the event that is on record. */
export const explainDenial: UseCase<{ readonly event: number }, ExplainedDenial> = {
  kind: "read",
  request: fields({ event: whole }),
  run: async (tx, _context, { event }) => {
    const [found] = await tx.events.after(event - 1, 1);
    if (found === undefined || found.seq !== event) return no(notFound("event", String(event)));
    if (found.type !== "guard_denied") {
      return no(invalid("event", "is not about a denied tool; ov logs <agent> shows those", { value: String(event) }));
    }
    const data = payloadFields(found.data);
    const text = (name: string): string | null => (typeof data[name] === "string" ? data[name] : null);
    // A newer version may know more rules.
    const ruleId = guardRules.find((rule) => rule === data.rule) ?? "unreadable";
    const { seq, createdAt: at, agentName, turnId } = found;
    const told = { tool: text("tool"), summary: text("summary"), of: text("of"), reason: text("reason") };
    return ok({ event: seq, at, agentName, turnId, ruleId, ...told, ...ruleWords[ruleId] });
  },
};
