import { type ChosenModel, chooseModel } from "../../domain/agent/model.ts";
import { brokenRefusal, runtimeFileOf } from "../../domain/agent/runtime-spec.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { RuntimeChoice, Settings } from "../../ports/settings.ts";
import type { Context } from "../usecase.ts";
import type { SlingRequest } from "./sling-request.ts";

type RuntimeSettings = Pick<Settings, "runtime" | "runtimes" | "brokenRuntimes">;

/** The name of a new agent's runtime: the requested one, else the configured one. */
export const runtimeNameFor = (
  { runtime }: Pick<Settings, "runtime">,
  asked: string | undefined,
  capability: string,
): string => asked ?? runtime.capabilities[capability] ?? runtime.default;

/**
 * Runtime and driver of a new agent. Both stay the same for its whole life; later changes of the configuration do not
 * count.
 */
export function chooseRuntime(
  settings: RuntimeSettings,
  asked: string | undefined,
  capability: string,
): Result<RuntimeChoice, Refusal> {
  const name = runtimeNameFor(settings, asked, capability);
  const choice = settings.runtimes.find((one) => one.name === name);
  if (choice !== undefined) return ok(choice);
  const broken = settings.brokenRuntimes?.find(({ id }) => id === name);
  if (broken !== undefined) return no(invalid("runtime", brokenRefusal(broken), { value: name }));
  const allowed = settings.runtimes.map((one) => one.name);
  const near = nearest(name, allowed);
  const extra = { value: name, allowed, ...(near === undefined ? {} : { nearest: near }) };
  return no(
    invalid("runtime", `is not a runtime this program can start, and there is no ${runtimeFileOf(name)}`, extra),
  );
}

/** The model of a new agent. The token of a gateway comes from the operator's shell; agents hand on what theirs had. */
export function modelFor(
  { settings, caller }: Pick<Context, "settings" | "caller">,
  { model: asked, environment }: Pick<SlingRequest, "model" | "environment">,
  choice: RuntimeChoice,
  capability: string,
): Result<ChosenModel, Refusal> {
  const chosen = chooseModel(settings, { asked, capability, choice });
  if (!chosen.ok) return chosen;
  const variable = chosen.value.terms?.gateway?.tokenVariable;
  if (variable === undefined || caller.kind === "agent" || (environment[variable] ?? "") !== "") return chosen;
  const problem = `needs the token of its gateway in the variable ${variable}, which this shell has not set; export it and type the same again`;
  return no(invalid("model", problem, { value: chosen.value.model ?? "" }));
}
