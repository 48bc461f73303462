import { isOpenCheck } from "../../../../domain/completion/check.ts";
import type { Refusal } from "../../../../domain/refusal.ts";
import type { Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { CheckReply } from "../../../../usecases/completions/check-status.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";
import { teller } from "../merge/wait.ts";

/** Waits for the answer to a stored check, saying on the side what is being done. */
export async function untilAnswered(
  app: App,
  io: Io,
  { id, status }: { readonly id: string; readonly status: "done.status" | "gate.status" },
): Promise<Result<CheckReply, Refusal>> {
  const tell = teller(io);
  let said: string | null = null;
  return app.until(async () => {
    const found = await app.call(status, { id });
    if (!found.ok || !isOpenCheck(found.value.check)) return found;
    const { progress } = found.value.check;
    if (progress === null) tell("waiting for the engine to take this up; if that lasts, see: ov engine status");
    else if (progress !== said) io.say(visibleLine(progress));
    said = progress ?? said;
    return undefined;
  });
}
