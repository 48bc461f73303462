import { ok } from "../../../../domain/result.ts";
import type { AttachStep } from "../../../../usecases/agents/attach.ts";
import type { Handler } from "../../command.ts";
import { duration } from "../../format.ts";
import { isOn, word } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";

export const attach: Handler = async ({ app, args, flags, io }) => {
  const name = word(args.agent);
  const onWaiting = (waitedMs: number): void => {
    const lines =
      waitedMs >= 1_000
        ? [`Still waiting for ${name}, ${duration(waitedMs)} so far.`]
        : [
            `Waiting for ${name} to end its turn; Ctrl-C ends the waiting, not the agent.`,
            hintLine(io.paint, `to end its turn now: ov attach ${name} --interrupt`),
            hintLine(io.paint, `to see what it does meanwhile: ov logs ${name} --follow`),
          ];
    for (const line of lines) io.say(line);
  };
  const onOpening = (): void =>
    io.say(`Opening ${name} here. Leave its program as usual, and the agent goes on by itself.`);
  const interrupt = isOn(flags.interrupt);
  const onItem = (step: AttachStep): void => (step.kind === "waiting" ? onWaiting(step.waitedMs) : onOpening());
  const done = await app.follow("agent.attach", { name, interrupt }, { onItem });
  if (!done.ok) return done;
  const { agentName, exitCode, signal } = done.value;
  const how = exitCode === 0 ? "" : signal === null ? ` (its program exited ${exitCode})` : ` (ended by ${signal})`;
  const text = `${successLine(io.paint, "Handed back", agentName)}${how}`;
  return ok({ json: { ...done.value }, text, quietText: "" });
};
