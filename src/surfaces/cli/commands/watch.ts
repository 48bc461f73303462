import { stateDirName } from "../../../domain/project/place.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { AgentHealth, HealthReport } from "../../../usecases/health/assess-health.ts";
import type { DiskState } from "../../../usecases/status/show.ts";
import { duration, timeOfDay } from "../../shared/format.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import type { App } from "../app.ts";
import type { Handler, Io, Paint } from "../command.ts";
import { integer, isOn } from "../given.ts";
import { successLine, warningLine } from "../marks.ts";
import { untilInterrupted } from "../waiting.ts";

/** Where an engine that runs says so; relative to the git directory of the project. */
const pidFile = `${stateDirName}/run/engine.json`;

export const watch: Handler = async ({ app, flags, io }) => {
  const configured = await app.call("config.get", { key: "watchdog.tier0IntervalMs" });
  if (!configured.ok) return configured;
  const intervalMs = integer(flags.interval) ?? Number(configured.value);
  const engine = await app.call("engine.start", {});
  if (!engine.ok) return engine;
  const { pid } = engine.value;
  if (isOn(flags["kill-others"])) io.say("A project has one engine and one watchdog: there are no others to end.");
  if (isOn(flags.background)) {
    const text = successLine(io.paint, "The engine watches, pid", String(pid));
    return ok({ json: { pid, intervalMs, pidFile }, text, quietText: String(pid) });
  }
  return ok({
    json: { pid, intervalMs, mode: "foreground" },
    text: `Engine ${pid} watches; looking every ${intervalMs} ms until Ctrl-C.`,
    quietText: "",
    afterPrint: () => tellHealth(app, io, intervalMs),
  });
};

async function tellHealth(app: App, io: Io, intervalMs: number): Promise<void> {
  let toldDisk: string | null = null;
  const onItem = ({ agents, now, fullDisk }: HealthReport & DiskState): void => {
    if (fullDisk !== toldDisk) io.say(diskLine(io.paint, fullDisk, now));
    toldDisk = fullDisk;
    for (const health of agents) io.say(healthLine(io.paint, health, now));
  };
  const ended = await untilInterrupted((signal) => app.follow("health.follow", { intervalMs }, { onItem, signal }));
  if (!ended.ok) io.warn(`stopped watching: ${describeRefusal(ended.refusal).message}`);
}

const diskLine = (paint: Paint, fullDisk: string | null, now: number): string =>
  `${paint.muted(`[${timeOfDay(now)}]`)} ${fullDisk === null ? "the disk has room again" : warningLine(paint, visibleLine(fullDisk))}`;

/** One line per change: time, sign, agent, how it is, and why if that needs saying. */
export function healthLine(paint: Paint, { agent, assessment, quietMs }: AgentHealth, now: number): string {
  const { status, level, note } = assessment;
  const facts = [agent.state, `quiet for ${duration(quietMs)}`, ...(level > 0 ? [`level ${level}`] : [])];
  const why = note === null ? "" : ` [${visibleLine(note)}]`;
  const time = paint.muted(`[${timeOfDay(now)}]`);
  return `${time} ${sign(paint, { agent, assessment })} ${paint.accent(agent.name)}: ${status} (${facts.join(", ")})${why}`;
}

function sign(paint: Paint, { agent, assessment }: Pick<AgentHealth, "agent" | "assessment">): string {
  const { status, action } = assessment;
  if (action.kind === "investigate") return paint.yellow(">");
  if (status === "gone" || agent.state === "zombie") return paint.red("x");
  if (status === "stalled" || status === "late") return paint.yellow("!");
  return status === "ended" ? paint.cyan("✓") : paint.green("·");
}
