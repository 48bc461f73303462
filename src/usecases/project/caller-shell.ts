import { allowedEnvironment, gateVariables } from "../../domain/agent/environment.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
import type { CallerShell, Effect } from "../operation.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * The allow-listed variables of the caller's shell that agents of this runtime will get; of the default one if absent.
 * Refused where git does not know who commits: such agents would work in vain.
 */
export const captureEnvironment: Effect<{ readonly runtime?: string | undefined }, Variables> = {
  kind: "effect",
  request: fields({}, { runtime: text }),
  place: "caller",
  run: async (world, { runtime }) => {
    const shell = await world.callerShell();
    const unknown = await checkCommitter(shell);
    if (!unknown.ok) return unknown;
    const name = runtime ?? (await world.settings()).runtime.default;
    return ok(allowedEnvironment(shell.variables, shell.neededBy(name)));
  },
};

async function checkCommitter(shell: CallerShell): Promise<Result<null, Refusal>> {
  const said = await shell.unknownCommitter();
  return said === undefined ? ok(null) : no({ kind: "committer-unknown", said });
}

/** Those of them that gates may have, with where tools and files are. */
export const captureForGates: Effect<object, Variables> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => ok(gateVariables((await world.callerShell()).variables)),
};

/** Refused when no agent of this runtime could start from the caller's shell, or none could commit. */
export const checkRuntime: Effect<{ readonly runtime: string }, { readonly version: string | null }> = {
  kind: "effect",
  request: fields({ runtime: text }),
  place: "caller",
  run: async (world, { runtime }) => {
    const shell = await world.callerShell();
    const startable = await shell.preflight(runtime);
    if (!startable.ok) return startable;
    const known = await checkCommitter(shell);
    return known.ok ? startable : known;
  },
};
