import { join } from "node:path";
import type { Agent } from "../domain/agent/agent.ts";
import { type RuntimeName, type RuntimeSpec, runtimeNames } from "../domain/agent/runtime-spec.ts";
import { type DollarWatch, dollarWatch } from "../domain/budget/dollar-watch.ts";
import { priceOf } from "../domain/prices/prices.ts";
import { selfCommand } from "../host/own-program.ts";
import { probeRuntime } from "../host/runtime-probe.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { RuntimeChoice } from "../ports/settings.ts";
import { claudeRuntime } from "../runtimes/claude/runtime.ts";
import { codexRuntime } from "../runtimes/codex/runtime.ts";
import { copilotRuntime } from "../runtimes/copilot/runtime.ts";
import { describedRuntime } from "../runtimes/described/runtime.ts";
import { geminiRuntime } from "../runtimes/gemini/runtime.ts";
import { opencodeRuntime } from "../runtimes/opencode/runtime.ts";
import { piRuntime } from "../runtimes/pi/runtime.ts";
import { scriptedRuntime } from "../runtimes/scripted/runtime.ts";
import type { Preflight } from "../usecases/usecase.ts";
import type { Project } from "./project.ts";
import { runtimeChoices } from "./runtime-names.ts";

/** Every runtime this build knows. */
const runtimes: Readonly<Record<RuntimeName, () => Runtime>> = {
  claude: () => claudeRuntime,
  codex: () => codexRuntime,
  gemini: () => geminiRuntime,
  copilot: () => copilotRuntime,
  pi: () => piRuntime,
  opencode: () => opencodeRuntime,
  scripted: () => scriptedRuntime([...selfCommand(), "scripted-agent"]),
};

/** A runtime of this program, by its name alone, or by the longer name of one of its drivers. */
export function runtimeById(name: string): Runtime | undefined {
  const id = runtimeChoices.find((choice) => choice.name === name)?.runtime ?? name;
  return isKnown(id) ? runtimes[id]() : undefined;
}

/** The built-in runtime of this name, or the one that a file of the project describes. */
const runtimeIn = (name: string, specs: readonly RuntimeSpec[]): Runtime | undefined => {
  const spec = specs.find(({ id }) => id === name);
  return runtimeById(name) ?? (spec === undefined ? undefined : describedRuntime(spec));
};

/** The runtime of an agent: as it was described when the agent was spawned, where a file of the project described it. */
export const runtimeOf = ({ runtime, runtimeSpec }: Pick<Agent, "runtime" | "runtimeSpec">): Runtime | undefined =>
  runtimeSpec === null ? runtimeById(runtime) : describedRuntime(runtimeSpec);

/** Those of this program, then those that files of the project describe. */
export const allRuntimes = (specs: readonly RuntimeSpec[]): readonly Runtime[] => [
  ...Object.values(runtimes).map((make) => make()),
  ...specs.map(describedRuntime),
];

/** Where agents of a runtime look for instructions; the name that most of them know, for a runtime that we do not. */
export const instructionFileFor = (id: string, specs: readonly RuntimeSpec[]): string =>
  runtimeIn(id, specs)?.instructionFile ?? "AGENTS.md";

/**
 * Files in a worktree that steer an agent of any runtime: an agent may change none of them. An instruction file at the top
 * is the project's own, and agents are asked to keep it true; what they change there waits for the operator's word.
 */
export const steeringFiles = (specs: readonly RuntimeSpec[]): readonly string[] => [
  ...new Set(
    allRuntimes(specs).flatMap(({ instructionFile, guardedFiles }) => [
      ...(instructionFile.includes("/") ? [instructionFile] : []),
      ...guardedFiles,
    ]),
  ),
];

/** Could an agent of this runtime start with this PATH, and with which version of its program? */
export const preflight = (
  { dir, env, specs }: Pick<Project, "dir" | "env"> & { readonly specs: readonly RuntimeSpec[] },
  runtime: string,
  path: string | undefined,
  confine?: Sandbox["forProbe"],
): ReturnType<Preflight> => {
  const { program = null, versionArgs } = runtimeIn(runtime, specs) ?? {};
  return probeRuntime({
    ...(confine === undefined ? {} : { confine }),
    runtime,
    program,
    versionArgs,
    path: path ?? env.PATH ?? "",
    memory: join(dir, "run", "programs.json"),
  });
};

/** Can a limit in dollars hold during a turn of this runtime and driver, with this model? */
export async function watchesDollars(
  { root }: Pick<Project, "root">,
  { runtime, driver, spec }: RuntimeChoice,
  model: string | null,
): Promise<DollarWatch> {
  const signs = runtimeOf({ runtime, runtimeSpec: spec ?? null })?.drivers.find(({ id }) => id === driver)?.abilities;
  const { projectPrices } = await import("../host/price-list.ts");
  const hasPrice = model !== null && priceOf(projectPrices(root).list, model, Date.now()) !== undefined;
  return signs === undefined ? "held" : dollarWatch(signs, { model, hasPrice });
}

const isKnown = (id: string): id is RuntimeName => runtimeNames.some((name) => name === id);
