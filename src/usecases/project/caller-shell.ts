import { allowedEnvironment, gateVariables } from "../../domain/agent/environment.ts";
import { ok } from "../../domain/result.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";

type Variables = Readonly<Record<string, string>>;

/** The allow-listed variables of the caller's shell that agents of this runtime will get; of the default one if absent. */
export const captureEnvironment: Effect<{ readonly runtime?: string | undefined }, Variables> = {
  kind: "effect",
  request: fields({}, { runtime: text }),
  place: "caller",
  run: async (world, { runtime }) => {
    const shell = await world.callerShell();
    const name = runtime ?? (await world.settings()).runtime.default;
    return ok(allowedEnvironment(shell.variables, shell.neededBy(name)));
  },
};

/** Those of them that gates may have, with where tools and files are. */
export const captureForGates: Effect<object, Variables> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => ok(gateVariables((await world.callerShell()).variables)),
};

/** Refused when no agent of this runtime could start from the caller's shell. */
export const checkRuntime: Effect<{ readonly runtime: string }, { readonly version: string | null }> = {
  kind: "effect",
  request: fields({ runtime: text }),
  place: "caller",
  run: async (world, { runtime }) => (await world.callerShell()).preflight(runtime),
};
