import type { StoredCheck } from "../../../../domain/completion/check.ts";
import type { Refusal } from "../../../../domain/refusal.ts";
import type { Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { CheckReply } from "../../../../usecases/completions/check-status.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";
import { teller } from "../merge/wait.ts";

/** Waits for the answer to a stored check, saying on the side what is being done. */
export async function untilAnswered(app: App, io: Io, id: string): Promise<Result<CheckReply, Refusal>> {
  const tell = teller(io);
  let said: string | null = null;
  const onItem = ({ progress }: StoredCheck): void => {
    if (progress === null) tell("waiting for the engine to take this up; if that lasts, see: ov engine status");
    else if (progress !== said) io.say(visibleLine(progress));
    said = progress ?? said;
  };
  const answer = await app.follow("done.follow", { id }, { onItem });
  if (!answer.ok) return answer;
  if (answer.value === undefined) throw new Error("a check was left though nobody left it");
  return { ok: true, value: answer.value };
}
