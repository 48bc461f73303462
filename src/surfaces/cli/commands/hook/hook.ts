import { contextAnswer, goOnAnswer } from "../../../../domain/hook/hook-answer.ts";
import { type HookEvent, hookEvents } from "../../../../domain/hook/hook-event.ts";
import { type HookInput, readHookInput } from "../../../../domain/hook/hook-input.ts";
import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import type { HookReply } from "../../../../usecases/hooks/report.ts";
import { exits } from "../../../shared/exits.ts";
import type { Call, Handler, Outcome } from "../../command.ts";

/** The exit code by which a hook denies. Of a stop it would mean "go on", so nothing else here may end with it. */
const deny = 2;

/** Tools often end together; what one of them handed over need not be looked for again. */
const debounceMs = 500;

/** One event of an interactive session. Failing must never hold up a person, nor let an agent pass its guard. */
export const hook: Handler = async (call) => {
  const event = hookEvents.find((known) => known === call.args.event) ?? "stop";
  try {
    const input = readHookInput(await call.io.stdin());
    const report = await call.app.call("hook.report", { event, input: input ?? null, debounceMs });
    return report.ok ? await answer(call, event, input, report.value) : await refused(call, event, report.refusal);
  } catch (thrown) {
    const { failureOf } = await import("../../../../domain/failure.ts");
    const { describeFailure } = await import("../../../shared/failures.ts");
    const { message } = describeFailure(failureOf(thrown));
    // A person whose project is gone must still be able to work; an agent without its guard must not.
    return failed(call, event === "pre-tool" && call.app.speaksForAgent ? deny : exits.unexpected, message);
  }
};

async function answer(
  call: Call,
  event: HookEvent,
  input: HookInput | undefined,
  { verdict, mail }: HookReply,
): Promise<Result<Outcome, Refusal>> {
  if (verdict.decision === "deny") return failed(call, deny, verdict.reason);
  if (event === "session-start") return prime(call, input);
  return mail ? handOver(call, event) : nothing;
}

const nothing: Result<Outcome, Refusal> = ok({ json: {}, text: "" });

/** After its memory was shortened a model needs the facts, not the advice it already followed. */
async function prime(call: Call, input: HookInput | undefined): Promise<Result<Outcome, Refusal>> {
  const handler = (await import("../prime/prime.ts")).prime;
  const primed = await handler({ ...call, flags: { compact: input?.source === "compact" } });
  return primed.ok ? primed : refused(call, "session-start", primed.refusal);
}

async function handOver(call: Call, event: HookEvent): Promise<Result<Outcome, Refusal>> {
  const { app } = call;
  const checked = await app.call("mail.check", event === "stop" ? {} : { debounceMs });
  if (!checked.ok) return refused(call, event, checked.refusal);
  const { inbox, by, letters, remaining } = checked.value;
  if (letters.length === 0) return nothing;
  const { renderInject } = await import("../../../../domain/mail/render.ts");
  const more = remaining === 0 ? "" : `\n${remaining} more in the inbox: run ov mail check.`;
  const text = `${renderInject(letters)}${more}`;
  const said = event === "stop" ? goOnAnswer(text) : contextAnswer(event, text);
  const messages = letters.map(({ message }) => message.seq);
  return ok({
    json: said,
    text: JSON.stringify(said),
    // A refusal is no loss: mail that cannot be confirmed any more is offered again, marked as redelivered.
    afterPrint: async () => void (await app.call("mail.delivered", { agent: inbox, by, messages })),
  });
}

/** Whoever hides its identity, or has none any more, uses no tools. */
async function refused(call: Call, event: HookEvent, refusal: Refusal): Promise<Result<Outcome, Refusal>> {
  const { describeRefusal } = await import("../../../shared/refusals.ts");
  return failed(call, event === "pre-tool" ? deny : exits.unexpected, describeRefusal(refusal).message);
}

function failed({ io }: Call, exit: number, message: string): Result<Outcome, Refusal> {
  io.say(message);
  return ok({ json: { success: false, error: message }, text: "", exit });
}
