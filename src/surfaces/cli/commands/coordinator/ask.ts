import { ok } from "../../../../domain/result.ts";
import { visibleText } from "../../../../domain/text/visible.ts";
import type { HeadCapability } from "../../../../usecases/coordinators/find.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler, Outcome } from "../../command.ts";
import { integer, text } from "../../given.ts";
import { teller } from "../merge/wait.ts";
import { headAndBody } from "./head-flags.ts";

const defaultSeconds = 120;

/** Asks one that lives, and waits for its word in the thread of the question. */
export const ask =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const { app, flags, io } = call;
    const meant = await headAndBody(capability, call);
    if (!meant.ok) return meant;
    const { agentName, body } = meant.value;
    const correlationId = crypto.randomUUID();
    const sent = await app.call("mail.send", {
      to: agentName,
      subject: text(flags.subject) ?? "operator request",
      body,
      type: "question",
      payload: JSON.stringify({ correlationId }),
    });
    if (!sent.ok) return sent;
    const sentId = sent.value.id ?? "";
    const seconds = integer(flags.timeout) ?? defaultSeconds;
    const tell = teller(io);
    const onItem = (): void =>
      tell(`waiting for the answer of ${agentName}, ${seconds} s at most (Ctrl-C stops only the waiting)`);
    const waited = await app.follow("coordinator.followAnswer", { sentId, patienceMs: seconds * 1000 }, { onItem });
    if (!waited.ok) return waited;
    const json = { correlationId, sentId, agentName };
    const { answer, latencyMs, ended } = waited.value;
    if (answer === null) {
      const why = ended
        ? `${agentName} has ended without an answer`
        : `no answer from ${agentName} within ${seconds} s`;
      io.warn(`${why}; what it may still say is in its thread: ov mail list --thread ${sentId}`);
      return ok(unanswered({ ...json, error: why, ended }));
    }
    const { id: replyId, subject, body: said, payload } = answer;
    return ok({
      json: { ...json, replyId, subject, body: said, payload: parsed(payload), latencyMs },
      text: visibleText(said),
      // Whoever asked has read it now. That it was read before, or lies in another inbox, is no failure.
      afterPrint: async () => void (await app.call("mail.read", { id: replyId })),
    });
  };

const unanswered = (json: { readonly ended: boolean; readonly error: string }): Outcome => ({
  json: { success: false, ...json, exitCode: json.ended ? exits.upstream : exits.timeout },
  text: "",
  exit: json.ended ? exits.upstream : exits.timeout,
});

/** As data where it is data. */
function parsed(payload: string | null): unknown {
  if (payload === null) return null;
  try {
    return JSON.parse(payload);
  } catch {
    // Free text in a payload is allowed; it is shown as it was written.
    return payload;
  }
}
