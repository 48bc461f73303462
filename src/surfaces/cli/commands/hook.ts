import {
  type HookEvent,
  type HookFormat,
  type HookInput,
  hookEvents,
  loggedEvents,
} from "../../../domain/hook/hook.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import type { HookedAgent, HookReply } from "../../../usecases/hooks/report.ts";
import { exits } from "../../shared/exits.ts";
import type { Call, Handler, Outcome } from "../command.ts";
import { isOn, text } from "../given.ts";

/**
 * The exit code by which a hook denies. For a stop hook it would mean "go on", so nothing else here may end with it.
 */
const deny = 2;

/** Tools often end together; what one of them handed over need not be looked for again. */
const debounceMs = 500;

/** One event of a coding agent. Failing must never hold up a person, nor let an agent pass its guard. */
export const hook: Handler = async (call) => {
  const event = hookEvents.find((known) => known === call.args.event) ?? "stop";
  const rules = call.flags.rules;
  try {
    const format = await formatOf(call);
    const input = format.read(await call.io.stdin());
    if (typeof rules === "string") return await guard(call, input, { rules, attended: false });
    const report = await call.app.call("hook.report", { event, input: input ?? null, debounceMs });
    if (!report.ok) return await refused(call, event, report.refusal);
    return booking(call, event, input, await answer(call, event, input, report.value));
  } catch (thrown) {
    const { failureOf } = await import("../../../domain/failure.ts");
    const { describeFailure } = await import("../../shared/failures.ts");
    const { message } = describeFailure(failureOf(thrown));
    // A person whose project is gone must still be able to work; an agent without its guard must not.
    const denies = event === "pre-tool" && (rules !== undefined || call.app.speaksForAgent);
    return failed(call, denies ? deny : exits.unexpected, message);
  }
};

const bookedEvents: readonly HookEvent[] = ["stop", "pre-compact", "session-end"];

/**
 * Books the usage of a person's session whenever its model has ended an answer. The hook's own reply is printed first.
 */
function booking(
  { app }: Call,
  event: HookEvent,
  input: HookInput | undefined,
  answered: Result<Outcome, Refusal>,
): Result<Outcome, Refusal> {
  const transcript = input?.transcript ?? null;
  if (!answered.ok || transcript === null || !bookedEvents.includes(event)) return answered;
  const { afterPrint } = answered.value;
  return ok({
    ...answered.value,
    afterPrint: async () => {
      await afterPrint?.();
      // A refusal costs the numbers of one session, and no person is held up for it.
      await app.call("cost.bookSession", { transcript });
    },
  });
}

/** In the words of the program whose hook this is. */
const formatOf = ({ app, flags }: Call): Promise<HookFormat> => app.hookFormat(text(flags.runtime));

async function answer(
  call: Call,
  event: HookEvent,
  input: HookInput | undefined,
  { agent, mail }: HookReply,
): Promise<Result<Outcome, Refusal>> {
  if (agent !== null && event === "pre-tool") return guard(call, input, agent);
  // A turn was told in its prompt how things stand.
  if (event === "session-start") return agent?.attended === false ? nothing : prime(call, input);
  return mail ? handOver(call, event) : nothing;
}

/** By the rules in the file it was given, or by those of the agent that was found out. */
type Rules = { readonly rules: string; readonly attended: boolean } | HookedAgent;

/** Only a denial opens the database. A denial that cannot be stored is a denial all the same. */
async function guard(call: Call, input: HookInput | undefined, by: Rules): Promise<Result<Outcome, Refusal>> {
  const { tool, cwd } = input ?? { tool: null, cwd: null };
  const use = { tool, cwd, attended: by.attended, ...(input?.use ?? unknownUse) };
  const digest = typeof call.flags.digest === "string" ? call.flags.digest : undefined;
  const rules = "rules" in by ? { file: by.rules } : { agent: by.name };
  const judged = await call.app.call("guard.judge", { by: rules, use, digest });
  if (!judged.ok) return refused(call, "pre-tool", judged.refusal);
  const verdict = judged.value;
  if (verdict.decision === "allow") return allowed(call, verdict.note, by);
  const { rule, reason, of } = verdict;
  try {
    await call.app.call("hook.denied", { rule, reason, ...(of === undefined ? {} : { of }), input: input ?? null });
  } catch (thrown) {
    const { failureOf } = await import("../../../domain/failure.ts");
    const { describeFailure } = await import("../../shared/failures.ts");
    return await denied(call, `${reason} (not put on record: ${describeFailure(failureOf(thrown)).message})`);
  }
  return denied(call, reason);
}

/** Of a hook that was told nothing we can read; the guard denies it by its missing tool. */
const unknownUse = { kind: "other", command: null, paths: [], changes: false } as const;

/** A person is asked by the program as their settings say; in a turn there is no person to ask. */
async function allowed(call: Call, note: string | undefined, { attended }: Rules): Promise<Result<Outcome, Refusal>> {
  const format = await formatOf(call);
  const context = note === undefined ? null : format.context("pre-tool", note);
  const said = (attended ? null : format.allowance(note)) ?? context;
  return said === null ? nothing : ok({ json: said, text: JSON.stringify(said) });
}

const nothing: Result<Outcome, Refusal> = ok({ json: {}, text: "" });

/** After its memory was shortened a model needs the facts, not the advice it already followed. */
async function prime(call: Call, input: HookInput | undefined): Promise<Result<Outcome, Refusal>> {
  const handler = (await import("./prime.ts")).prime;
  const primed = await handler({ ...call, flags: { compact: input?.source === "compact" } });
  return primed.ok ? primed : refused(call, "session-start", primed.refusal);
}

async function handOver(call: Call, event: HookEvent): Promise<Result<Outcome, Refusal>> {
  const { app } = call;
  const checked = await app.call("mail.check", event === "stop" ? {} : { debounceMs });
  if (!checked.ok) return refused(call, event, checked.refusal);
  const { inbox, by, letters, remaining } = checked.value;
  if (letters.length === 0) return nothing;
  const { renderInject } = await import("../../../domain/mail/render.ts");
  const more = remaining === 0 ? "" : `\n${remaining} more in the inbox: run ov mail check.`;
  const text = `${renderInject(letters)}${more}`;
  const format = await formatOf(call);
  const said = event === "stop" ? format.goOn(text) : format.context(event, text);
  const messages = letters.map(({ message }) => message.seq);
  return ok({
    json: said,
    text: JSON.stringify(said),
    // A refusal is no loss: mail that cannot be confirmed any more is offered again, marked as redelivered.
    afterPrint: async () => void (await app.call("mail.delivered", { agent: inbox, by, messages })),
  });
}

/** An agent that hides its identity, or has none any more, uses no tools. */
async function refused(call: Call, event: HookEvent, refusal: Refusal): Promise<Result<Outcome, Refusal>> {
  const { describeRefusal } = await import("../../shared/refusals.ts");
  const { message } = describeRefusal(refusal);
  return event === "pre-tool" ? denied(call, message) : failed(call, exits.unexpected, message);
}

/** The exit code denies; the program need not understand the words. */
async function denied(call: Call, reason: string): Promise<Result<Outcome, Refusal>> {
  const told = (await formatOf(call)).denial(reason);
  const outcome = failed(call, deny, reason);
  return told === null || !outcome.ok ? outcome : ok({ ...outcome.value, text: JSON.stringify(told) });
}

function failed({ io }: Call, exit: number, message: string): Result<Outcome, Refusal> {
  io.say(message);
  return ok({ json: { success: false, error: message }, text: "", exit });
}

export const log: Handler = async ({ app, args, flags, io }) => {
  const event = args.event as keyof typeof loggedEvents;
  const told = isOn(flags.stdin) ? (await app.hookFormat(undefined)).read(await io.stdin()) : undefined;
  const seen = {
    ...told,
    tool: told?.tool ?? text(flags["tool-name"]) ?? null,
    transcript: told?.transcript ?? text(flags.transcript) ?? null,
  };
  const agent = text(flags.agent);
  const about = agent === undefined ? {} : { agent };
  const reply = await app.call("event.record", { event: loggedEvents[event], seen, ...about });
  if (!reply.ok) return reply;
  if (loggedEvents[event] === "session-end" && seen.transcript !== null) {
    const booked = await app.call("cost.bookSession", { transcript: seen.transcript, ...about });
    if (!booked.ok) return booked;
  }
  return ok({ json: { event }, text: "" });
};
