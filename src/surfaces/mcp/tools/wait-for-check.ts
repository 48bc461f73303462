import type { StoredCheck } from "../../../domain/completion/check.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";
import type { CheckReply } from "../../../usecases/completions/checks.ts";
import type { ToolContext } from "../tool-call.ts";

/** Clients that end silent calls do so after half a minute or more. */
const signOfLifeMs = 10_000;

/** Waits for the answer to a stored check, with signs of life for the client. Undefined: nobody waits any more. */
export async function waitForCheck(
  { app, signal, progress }: ToolContext,
  id: string,
): Promise<Result<CheckReply | undefined, Refusal>> {
  let told = "";
  let toldAt = Number.NEGATIVE_INFINITY;
  const onItem = (check: StoredCheck): void => {
    const doing = check.progress ?? (check.status === "queued" ? "waiting for the engine" : "being checked");
    if (doing === told && performance.now() - toldAt <= signOfLifeMs) return;
    progress(doing);
    told = doing;
    toldAt = performance.now();
  };
  return app.follow("done.follow", { id }, { onItem, signal });
}
