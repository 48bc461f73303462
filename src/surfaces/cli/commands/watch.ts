import type { HealthLimits } from "../../../domain/health/ladder.ts";
import { stateDirName } from "../../../domain/project/place.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { ConfigKey } from "../../../usecases/config/config.ts";
import type { AgentHealth, HealthReport } from "../../../usecases/health/assess-health.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import type { App } from "../app.ts";
import type { Handler, Io, Paint } from "../command.ts";
import { duration, timeOfDay } from "../format.ts";
import { integer, isOn } from "../given.ts";
import { successLine } from "../marks.ts";
import { rest, untilInterrupted } from "../waiting.ts";

/** Where an engine that runs says so; relative to the git directory of the project. */
const pidFile = `${stateDirName}/run/engine.json`;

export const watch: Handler = async ({ app, flags, io }) => {
  const keys = await app.call("config.list", { section: "watchdog" });
  if (!keys.ok) return keys;
  const intervalMs = integer(flags.interval) ?? numberOf(keys.value, "tier0IntervalMs");
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
    afterPrint: () => tellHealth(app, io, { limits: limitsOf(keys.value), intervalMs }),
  });
};

async function tellHealth(
  app: App,
  io: Io,
  { limits, intervalMs }: { readonly limits: HealthLimits; readonly intervalMs: number },
): Promise<void> {
  const ended = await untilInterrupted((over) =>
    follow({
      look: () => app.call("health.assess", { limits, all: true }),
      tell: (health, now) => io.say(healthLine(io.paint, health, now)),
      rest: () => rest(intervalMs, over),
      isOver: () => over.aborted,
    }),
  );
  if (!ended.ok) io.warn(`stopped watching: ${describeRefusal(ended.refusal).message}`);
}

const limitsOf = (keys: readonly ConfigKey[]): HealthLimits => ({
  staleThresholdMs: numberOf(keys, "staleThresholdMs"),
  zombieThresholdMs: numberOf(keys, "zombieThresholdMs"),
  nudgeIntervalMs: numberOf(keys, "nudgeIntervalMs"),
  maxEscalationLevel: numberOf(keys, "maxEscalationLevel"),
});

/** The configuration has been checked, so a key that is no number here is one that does not exist. */
function numberOf(keys: readonly ConfigKey[], name: string): number {
  const value = keys.find(({ key }) => key === `watchdog.${name}`)?.value;
  if (typeof value !== "number") throw new Error(`there is no number watchdog.${name}`);
  return value;
}

interface Following {
  /** One look at all agents, ended ones included. */
  look(): Promise<Result<HealthReport, Refusal>>;
  tell(health: AgentHealth, now: number): void;
  /** Resolves after the interval, or when the watch is over. */
  rest(): Promise<void>;
  isOver(): boolean;
}

/** Tells about every agent once, and then about every change, until it is over. Ends early when looking is refused. */
export async function follow({ look, tell, rest, isOver }: Following): Promise<Result<void, Refusal>> {
  const told = new Map<string, string>();
  while (!isOver()) {
    const report = await look();
    if (!report.ok) return report;
    for (const health of report.value.agents) {
      const { name } = health.agent;
      // Who ended before we began to watch is history.
      if (health.assessment.status === "ended" && !told.has(name)) continue;
      const news = newsOf(health);
      if (told.get(name) === news) continue;
      told.set(name, news);
      tell(health, report.value.now);
    }
    await rest();
  }
  return { ok: true, value: undefined };
}

/** One line per change: time, sign, agent, how it is, and why if that needs saying. */
export function healthLine(paint: Paint, { agent, assessment, quietMs }: AgentHealth, now: number): string {
  const { status, level, note } = assessment;
  const facts = [agent.state, `quiet for ${duration(quietMs)}`, ...(level > 0 ? [`level ${level}`] : [])];
  const why = note === null ? "" : ` [${visibleLine(note)}]`;
  const time = paint.muted(`[${timeOfDay(now)}]`);
  return `${time} ${sign(paint, { agent, assessment })} ${paint.accent(agent.name)}: ${status} (${facts.join(", ")})${why}`;
}

/** What must change for another line: the time that passes is no news. */
const newsOf = ({ agent, assessment }: AgentHealth): string =>
  JSON.stringify([agent.generation, agent.state, assessment.status, assessment.level, assessment.note]);

function sign(paint: Paint, { agent, assessment }: Pick<AgentHealth, "agent" | "assessment">): string {
  const { status, action } = assessment;
  if (action.kind === "investigate") return paint.yellow(">");
  if (status === "gone" || agent.state === "zombie") return paint.red("x");
  if (status === "stalled" || status === "late") return paint.yellow("!");
  return status === "ended" ? paint.cyan("✓") : paint.green("·");
}
