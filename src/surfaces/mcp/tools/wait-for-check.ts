import { isOpenCheck } from "../../../domain/completion/check.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import type { CheckReply } from "../../../usecases/completions/check-status.ts";
import type { ToolContext } from "../tool-call.ts";

const firstLookMs = 100;
const longestPauseMs = 2_000;
/** Clients that end silent calls do so after half a minute or more. */
const signOfLifeMs = 10_000;

/**
 * Asks after a stored check until it is answered. The check lives in the store: when the client gives up, it goes on,
 * and asking again attaches to it. Undefined: nobody waits any more.
 */
export async function waitForCheck(
  { app, signal, progress }: ToolContext,
  id: string,
): Promise<Result<CheckReply | undefined, Refusal>> {
  let told = "";
  let toldAt = Number.NEGATIVE_INFINITY;
  for (let pause = firstLookMs; !signal.aborted; pause = Math.min(pause * 2, longestPauseMs)) {
    const seen = await app.call("done.status", { id });
    if (!seen.ok || !isOpenCheck(seen.value.check)) return seen;
    const { check } = seen.value;
    const doing = check.progress ?? (check.status === "queued" ? "waiting for the engine" : "being checked");
    if (doing !== told || performance.now() - toldAt > signOfLifeMs) {
      progress(doing);
      told = doing;
      toldAt = performance.now();
    }
    await app.sleep(pause, signal);
  }
  return ok(undefined);
}
