import { type GuardRule, guardRules, toolUseFields } from "../../domain/guard/tool-use.ts";
import {
  type HookEvent,
  type HookInput,
  type HookSeen,
  hookEvents,
  hookFact,
  keptText,
  toolFacts,
} from "../../domain/hook/hook.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import {
  anything,
  decimal,
  fields,
  flag,
  oneOf,
  orNull,
  type SchemaOf,
  text,
  whole,
} from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import { peekMail } from "../mail/inbox.ts";
import type { Context, UseCase } from "../usecase.ts";

export interface HookReport {
  readonly event: HookEvent;
  /** Null when the hook got no readable input. */
  readonly input: HookInput | null;
  /** Hand out no mail when some was handed out less than so many milliseconds ago. */
  readonly debounceMs?: number | undefined;
}

/** The part of a hook's input that is put on record. */
const seenFields = {
  tool: orNull(text),
  toolUseId: orNull(text),
  summary: orNull(text),
  durationMs: orNull(decimal),
  sessionId: orNull(text),
  source: orNull(text),
  transcript: orNull(text),
} as const;

const hookInput: SchemaOf<HookInput> = fields(
  { ...seenFields, use: fields(toolUseFields), cwd: orNull(text), continuing: flag, subagent: flag },
  { toolInput: anything },
);

export interface HookReply {
  /** The agent of the session; null for a person's own session, where no rules of ours count. */
  readonly agent: HookedAgent | null;
  /** There is mail that this event should hand over. */
  readonly mail: boolean;
}

export interface HookedAgent {
  readonly name: string;
  /** A person took it over and sits in front of it. Otherwise this is a turn, whose input was all it needs. */
  readonly attended: boolean;
}

/**
 * What a hook saw, on record, and what follows from it: whose rules count, and whether mail is to be handed over. One
 * transaction, because it runs at every step of a session.
 */
export const reportHook: UseCase<HookReport, HookReply> = {
  kind: "write",
  request: fields({ event: oneOf(hookEvents), input: orNull(hookInput) }, { debounceMs: whole }),
  run: async (tx, context, report) => {
    const { caller } = context;
    const about = caller.kind === "agent" ? {} : { agent: caller.name };
    const seen = report.input ?? {};
    const recorded = await recordHookEvent.run(tx, context, { event: report.event, seen, ...about });
    if (!recorded.ok) return recorded;
    // A token without a turn was given to a person who took the agent over.
    const agent = caller.kind === "agent" ? { name: caller.name, attended: caller.turnId === null } : null;
    const mail = agent?.attended === false ? ok(false) : await mailFor(tx, context, report);
    return mail.ok ? ok({ agent, mail: mail.value }) : mail;
  },
};

async function mailFor(tx: Tx, context: Context, report: HookReport): Promise<Result<boolean, Refusal>> {
  const { event, input, debounceMs } = report;
  // A helper of the session would read the mail, and the session itself would never hear of it.
  if (input?.subagent === true) return ok(false);
  if (event === "stop") {
    // Handed over once already, and it still wants to stop: asking again would never end.
    return ok(input?.continuing !== true && (await tx.deliveries.hasWaking(context.caller.name)));
  }
  if (event !== "user-prompt" && event !== "post-tool") return ok(false);
  const peeked = await peekMail.run(tx, context, { debounceMs });
  return peeked.ok ? ok(peeked.value.waiting) : peeked;
}

export interface DeniedUse {
  readonly rule: GuardRule;
  /** What the agent is told. */
  readonly reason?: string;
  /** The part of a command that is meant. */
  readonly of?: string;
  /** Null when the hook got no readable input. */
  readonly input: HookInput | null;
}

/** Stores that the guard kept an agent from using a tool, so that a person sees the attempt and the agent. */
export const recordDenial: UseCase<DeniedUse, { readonly rule: GuardRule }> = {
  kind: "write",
  request: fields({ rule: oneOf(guardRules), input: orNull(hookInput) }, { reason: text, of: text }),
  run: async (tx, { caller, now }, { rule, reason, of, input }) => {
    if (caller.kind !== "agent") return ok({ rule });
    const why = {
      rule,
      ...(reason === undefined ? {} : { reason: keptText(reason) }),
      ...(of === undefined ? {} : { of: keptText(of) }),
    };
    const data = { ...why, ...toolFacts(input ?? {}) };
    await record(tx, now, { ...byCaller(caller), source: "hook", type: "guard_denied", level: "warn", data });
    return ok({ rule });
  },
};

export interface RecordEventRequest {
  readonly event: HookEvent;
  /** What the hook was told. */
  readonly seen: HookSeen;
  /** The agent it is about. An agent's own events are always about itself. */
  readonly agent?: string;
}

/** Stores one event from a hook of an agent's runtime. It runs at every tool call, so it costs one insert. */
export const recordHookEvent: UseCase<RecordEventRequest, { readonly type: string }> = {
  kind: "write",
  request: fields(
    { event: oneOf(hookEvents), seen: fields({}, { ...seenFields, toolInput: anything }) },
    { agent: text },
  ),
  run: async (tx, { caller, now, ids }, { event, seen, agent }) => {
    if (!hookEvents.includes(event)) {
      return no(invalid("event", "is no event of a hook", { value: event, allowed: hookEvents }));
    }
    const about = caller.kind === "agent" ? byCaller(caller) : { agentName: agent ?? null };
    const fact = hookFact(event, seen, ids.digest);
    await record(tx, now, { ...about, ...fact, source: "hook" });
    if (caller.kind === "agent") await tx.agents.sawActivity(caller.agentId, now);
    return ok({ type: fact.type });
  },
};
