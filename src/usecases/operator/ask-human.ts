import type { Refusal } from "../../domain/refusal.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { sendMail } from "../mail/send.ts";
import type { UseCase } from "../usecase.ts";

export interface AskHumanRequest {
  readonly subject: string;
  /** What the person must know to decide. */
  readonly context: string;
  readonly options: readonly string[];
  /** ISO-8601: the answer is of no use after it. */
  readonly deadline?: string | undefined;
}

/** Asks the operator to decide; whoever asks waits for the answer without being taken for stuck. Answers the gate's id. */
export const askHuman: UseCase<AskHumanRequest, { readonly gateId: string }> = {
  access: "write",
  run: async (tx, context, { subject, context: facts, options, deadline }) => {
    const usable = checkOptions(options);
    if (!usable.ok) return usable;
    const payload = JSON.stringify({
      options: usable.value,
      context: facts,
      ...(deadline === undefined ? {} : { deadline }),
    });
    const sent = await sendMail.run(tx, context, {
      to: "operator",
      subject,
      body: facts,
      type: "decision_gate",
      priority: "high",
      payload,
    });
    return sent.ok ? ok({ gateId: sent.value.id ?? "" }) : sent;
  },
};

function checkOptions(options: readonly string[]): Result<readonly string[], Refusal> {
  const given = options.map((option) => option.trim());
  if (given.length < 2 || given.includes("")) return no(invalid("options", "must be at least two, none of them empty"));
  return new Set(given).size === given.length ? ok(given) : no(invalid("options", "must differ from each other"));
}
