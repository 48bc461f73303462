import { decide, type Verdict } from "../../domain/guard/policy.ts";
import { type HookEvent, hookEventTypes } from "../../domain/hook/hook-event.ts";
import { type HookInput, hookFacts } from "../../domain/hook/hook-input.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { recordHookEvent } from "../events/record-event.ts";
import { peekMail } from "../mail/peek.ts";
import type { Context, UseCase } from "../usecase.ts";

export interface HookReport {
  readonly event: HookEvent;
  /** Null when the hook was told nothing that can be read. */
  readonly input: HookInput | null;
  /** Hand out no mail when some was handed out less than so many milliseconds ago. */
  readonly debounceMs?: number | undefined;
}

export interface HookReply {
  readonly verdict: Verdict;
  /** There is mail that this event should hand over. */
  readonly mail: boolean;
}

/**
 * What a hook saw, on record, and what follows from it: whether a tool may be used, and whether mail is to be handed
 * over. One transaction, because it runs at every step of a session.
 */
export const reportHook: UseCase<HookReport, HookReply> = {
  access: "write",
  run: async (tx, context, { event, input, debounceMs }) => {
    const { caller } = context;
    const data = input === null ? undefined : hookFacts(input);
    const about = caller.kind === "agent" ? {} : { agent: caller.name };
    const recorded = await recordHookEvent.run(tx, context, { type: hookEventTypes[event], ...about, data });
    if (!recorded.ok) return recorded;
    const verdict = event === "pre-tool" ? await judge(tx, context, input) : allow;
    const mail = await mailFor(tx, context, { event, input, debounceMs });
    return mail.ok ? ok({ verdict, mail: mail.value }) : mail;
  },
};

const allow: Verdict = { decision: "allow" };

async function judge(tx: Tx, { caller, now }: Context, input: HookInput | null): Promise<Verdict> {
  if (caller.kind !== "agent") return allow;
  // A token without a turn was given to a person who took the agent over.
  const attended = caller.turnId === null;
  const tool = input?.tool ?? null;
  const verdict = decide({ capability: caller.capability, attended, tool, input: input?.toolInput });
  if (verdict.decision === "deny") {
    const about = { runId: caller.runId, agentName: caller.name, agentId: caller.agentId, turnId: caller.turnId };
    const data = { tool, rule: verdict.rule, ...(input === null ? {} : hookFacts(input)) };
    await tx.events.append([{ ...about, source: "hook", type: "guard_denied", level: "warn", data, createdAt: now }]);
  }
  return verdict;
}

async function mailFor(tx: Tx, context: Context, report: HookReport): Promise<Result<boolean, Refusal>> {
  const { event, input, debounceMs } = report;
  if (event === "stop") {
    // Handed over once already, and it still wants to stop: asking again would never end.
    return ok(input?.continuing !== true && (await tx.deliveries.hasWaking(context.caller.name)));
  }
  if (event !== "user-prompt" && event !== "post-tool") return ok(false);
  const peeked = await peekMail.run(tx, context, { debounceMs });
  return peeked.ok ? ok(peeked.value.waiting) : peeked;
}
