import type { HealthLimits } from "../../../../domain/health/facts.ts";
import { stateDirName } from "../../../../domain/project/place.ts";
import { ok } from "../../../../domain/result.ts";
import type { ConfigKey } from "../../../../usecases/config/config.ts";
import { describeRefusal } from "../../../shared/refusals.ts";
import type { App } from "../../app.ts";
import type { Handler, Io } from "../../command.ts";
import { integer, isOn } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { rest } from "../../rest.ts";
import { follow } from "./follow.ts";
import { healthLine } from "./render.ts";

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
    afterPrint: () => untilInterrupted(app, io, { limits: limitsOf(keys.value), intervalMs }),
  });
};

async function untilInterrupted(
  app: App,
  io: Io,
  { limits, intervalMs }: { readonly limits: HealthLimits; readonly intervalMs: number },
): Promise<void> {
  const over = new AbortController();
  const interrupt = (): void => over.abort();
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, interrupt);
  const ended = await follow({
    look: () => app.call("health.assess", { limits, all: true }),
    tell: (health, now) => io.say(healthLine(io.paint, health, now)),
    rest: () => rest(intervalMs, over.signal),
    isOver: () => over.signal.aborted,
  });
  for (const signal of signals) process.off(signal, interrupt);
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
