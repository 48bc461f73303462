import { nearest } from "../../domain/name/nearest.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { RuntimeChoice, Settings } from "../../ports/settings.ts";

type RuntimeSettings = Pick<Settings, "runtime" | "runtimes">;

/** The name of the runtime that a new agent gets: what was asked for, else what the configuration says. */
export const runtimeNameFor = (
  { runtime }: Pick<Settings, "runtime">,
  asked: string | undefined,
  capability: string,
): string => asked ?? runtime.capabilities[capability] ?? runtime.default;

/** Runtime and driver of a new agent. Both stay the same for its whole life, whatever the configuration says later. */
export function chooseRuntime(
  settings: RuntimeSettings,
  asked: string | undefined,
  capability: string,
): Result<RuntimeChoice, Refusal> {
  const name = runtimeNameFor(settings, asked, capability);
  const choice = settings.runtimes.find((one) => one.name === name);
  if (choice !== undefined) return ok(choice);
  const allowed = settings.runtimes.map((one) => one.name);
  const near = nearest(name, allowed);
  const extra = { value: name, allowed, ...(near === undefined ? {} : { nearest: near }) };
  return no(invalid("runtime", "is not a runtime this program can start", extra));
}
