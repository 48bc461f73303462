import { visibleLine } from "../../../../domain/text/visible.ts";
import type { AgentHealth } from "../../../../usecases/health/assess-health.ts";
import type { Paint } from "../../command.ts";
import { duration, timeOfDay } from "../../format.ts";

/** One line per change: time, sign, agent, how it is, and why if that needs saying. */
export function healthLine(paint: Paint, { agent, assessment, quietMs }: AgentHealth, now: number): string {
  const { status, level, note } = assessment;
  const facts = [agent.state, `quiet for ${duration(quietMs)}`, ...(level > 0 ? [`level ${level}`] : [])];
  const why = note === null ? "" : ` [${visibleLine(note)}]`;
  const time = paint.muted(`[${timeOfDay(now)}]`);
  return `${time} ${sign(paint, { agent, assessment })} ${paint.accent(agent.name)}: ${status} (${facts.join(", ")})${why}`;
}

/** What must change for another line: the time that passes is no news. */
export const newsOf = ({ agent, assessment }: AgentHealth): string =>
  JSON.stringify([agent.generation, agent.state, assessment.status, assessment.level, assessment.note]);

function sign(paint: Paint, { agent, assessment }: Pick<AgentHealth, "agent" | "assessment">): string {
  const { status, action } = assessment;
  if (action.kind === "investigate") return paint.yellow(">");
  if (status === "gone" || agent.state === "zombie") return paint.red("x");
  if (status === "stalled" || status === "late") return paint.yellow("!");
  return status === "ended" ? paint.cyan("✓") : paint.green("·");
}
