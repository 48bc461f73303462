import { readFileSync, writeFileSync } from "node:fs";
import type { CallStep } from "../fake-model/script.ts";
import type { KitStep, Stage } from "./driver.ts";

/** Tells the scripted agent what the fake model would tell a real one, in the words of its scenario. */
export const stage: Stage = {
  script: (scenario, steps, isMangled) => {
    const rules = JSON.parse(readFileSync(scenario, "utf8")) as readonly object[];
    const words = `KIT-${rules.length + 1}-`;
    const opening = isMangled ? [{ malformed: "{" }, { bigLine: true }, { malformed: '{"type":"kit.unknown"}' }] : [];
    // Nothing may stand behind what ends a turn.
    const last = steps.findIndex((step) => "hang" in step || ("status" in step && (step.times ?? 1) > 1));
    const all = (last < 0 ? steps : steps.slice(0, last + 1)).flatMap((step) => [
      ...(isMangled ? [{ malformed: "no JSON" }, { split: true }] : []),
      ...scenes(step),
    ]);
    // A prompt may hold the words of earlier steps too: the newest rule comes first.
    writeFileSync(scenario, JSON.stringify([{ when: { input: words }, do: [...opening, ...all] }, ...rules], null, 1));
    return words;
  },
};

function scenes(step: KitStep): readonly object[] {
  if ("status" in step) return [failure(step.status, step.resetAfter, (step.times ?? 1) > 1)];
  if ("hang" in step) return [{ hang: true }];
  if ("cut" in step) return [failure(500, undefined, false)];
  const usage = { usage: { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, ...step.usage } };
  if ("calls" in step) {
    const [last, ...others] = step.calls.toReversed().map((call) => called(call, false));
    const free = { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };
    return [...others.toReversed().map((call) => ({ ...call, ...free })), { ...last, ...usage }];
  }
  if ("shell" in step || "tool" in step)
    return [{ ...called(step, step.isDenied === true), ...(step.isDenied ? {} : usage) }];
  const pauses =
    (step.pauseMs ?? 0) > 0
      ? [{ repeat: { times: step.pieces ?? 1, do: [{ sleep: step.pauseMs }, { think: "…" }] } }]
      : [];
  return [...pauses, { say: literal(step.text), ...usage }];
}

/** What is denied is only asked for. */
function called(call: CallStep, isDenied: boolean): object {
  if ("shell" in call) {
    return isDenied
      ? { ask: { tool: "Bash", input: { command: literal(call.shell) }, expect: "deny" } }
      : { shell: literal(call.shell), allowFail: true };
  }
  if (isDenied) return { ask: { tool: call.tool, input: call.input ?? {}, expect: "deny" } };
  const [, , tool = call.tool] = /^mcp__(.+?)__(.+)$/.exec(call.tool) ?? [];
  return { mcp: { tool, arguments: call.input ?? {} }, allowFail: true };
}

function failure(status: number, resetAfter: number | undefined, isFinal: boolean): object {
  if (status === 401) return { fail: "login" };
  if (status === 404) return { fail: "model" };
  if (status === 429) return { rateLimit: resetAfter === undefined ? true : { resetInMs: resetAfter * 1000 } };
  return { apiError: { status, retries: 1, recover: !isFinal } };
}

/** In a scenario `${` begins a template. */
const literal = (text: string): string => text.replaceAll("${", "$${");
