import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { HeadCapability } from "../../../../usecases/coordinators/find.ts";
import type { Handler } from "../../command.ts";
import { integer, isOn } from "../../given.ts";
import { defaultIntervalMs, followOutput } from "./follow-output.ts";
import { questionOf } from "./head-flags.ts";

const defaultLines = 50;

/** Shows the newest lines of what it said, and goes on if asked to. */
export const output =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const { app, flags, io } = call;
    const question = questionOf(capability, call);
    const found = await app.call("coordinator.output", { ...question, lines: integer(flags.lines) ?? defaultLines });
    if (!found.ok) return found;
    const { agentName, lines, cursor } = found.value;
    const content = lines.map(({ text }) => text).join("\n");
    const follow = { question: { capability, name: agentName }, after: cursor };
    const intervalMs = integer(flags.interval) ?? defaultIntervalMs;
    return ok({
      json: { agentName, content, lines: lines.length },
      text:
        lines.length === 0
          ? `${agentName} has said nothing yet.`
          : lines.map(({ text }) => visibleLine(text)).join("\n"),
      ...(isOn(flags.follow) ? { afterPrint: () => followOutput(app, io, { ...follow, intervalMs }) } : {}),
    });
  };
