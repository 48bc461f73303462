import { exitTriggers } from "../../../../domain/coordination/exit-triggers.ts";
import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { CheckReply } from "../../../../usecases/coordinators/check-complete.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler, Paint } from "../../command.ts";
import { isOn } from "../../given.ts";
import { hintLine, successLine, warningLine } from "../../marks.ts";
import { questionOf } from "./head-flags.ts";

export const checkComplete: Handler = async (call) => {
  const { app, flags, io } = call;
  const clean = flags["require-clean"];
  const requireClean = typeof clean === "boolean" ? clean : undefined;
  const found = await app.call("coordinator.check", { ...questionOf("coordinator", call), requireClean });
  if (!found.ok) return found;
  const { complete, triggers, failures, runId, agentName } = found.value;
  return ok({
    json: { complete, triggers, failures, runId, agentName },
    text: lines(io.paint, found.value).join("\n"),
    exit: isOn(flags["exit-code"]) && !complete ? exits.check : exits.ok,
  });
};

function lines(paint: Paint, { complete, triggers, failures, runId }: CheckReply): readonly string[] {
  const enabled = exitTriggers.filter((name) => triggers[name].enabled);
  const head = complete
    ? successLine(paint, "Complete:", runId)
    : warningLine(paint, `${runId} is not complete`, enabled.length === 0 ? noTrigger : undefined);
  return [
    head,
    ...exitTriggers.map((name) => {
      const { enabled: on, met, detail } = triggers[name];
      const mark = met ? "met" : "not met";
      return `  ${name}: ${on ? mark : paint.dim(`${mark}, switched off`)} ${paint.dim(`(${visibleLine(detail)})`)}`;
    }),
    ...failures.map(({ name, capability, outcome }) => hintLine(paint, `${name} (${capability}) ended as ${outcome}`)),
  ];
}

const noTrigger = "no trigger is switched on: ov config set coordinator.exitTriggers.allAgentsDone true";
