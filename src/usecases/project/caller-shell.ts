import { allowedEnvironment, gateVariables } from "../../domain/agent/environment.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
import type { CallerShell, Effect } from "../operation.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * The allow-listed variables of the caller's shell for an agent and for the agents that it will start, which may have other
 * runtimes and models. Each agent gets of them what its own runtime needs. Refused where git does not know who commits:
 * such agents would work in vain.
 */
export const captureEnvironment: Effect<object, Variables> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const shell = await world.callerShell();
    const unknown = await checkCommitter(shell);
    if (!unknown.ok) return unknown;
    const { providers, runtimes } = await world.settings();
    const tokens = Object.values(providers).flatMap(({ authTokenEnv }) => authTokenEnv ?? []);
    const needed = runtimes.flatMap(({ runtime, spec }) => spec?.environment ?? shell.neededBy(runtime));
    return ok(allowedEnvironment(shell.variables, [...needed, ...tokens]));
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

/** Which runtimes a team would have. */
export interface TeamRuntimes {
  /** Of its coordinator. */
  readonly runtime: string;
  /** Of the agents that get another one than their coordinator. */
  readonly others: readonly { readonly capability: string; readonly runtime: string }[];
}

const team = ["coordinator", "lead", "scout", "builder", "reviewer", "merger"];

/**
 * The runtimes of a team; refused when one of them could not start here. A runtime that was typed stands in for the project's
 * default one, as it will when the team starts.
 */
export const checkTeam: Effect<{ readonly runtime?: string | undefined }, TeamRuntimes> = {
  kind: "effect",
  request: fields({}, { runtime: text }),
  place: "caller",
  run: async (world, { runtime: typed }) => {
    const { runtime: chosen } = await world.settings();
    const names = team.map((capability) => ({
      capability,
      runtime:
        (capability === "coordinator" ? typed : undefined) ??
        chosen.capabilities[capability] ??
        typed ??
        chosen.default,
    }));
    for (const runtime of new Set(names.map((one) => one.runtime))) {
      const startable = await world.call("runtime.check", { runtime });
      if (!startable.ok) return startable;
    }
    const runtime = names[0]?.runtime ?? chosen.default;
    return ok({ runtime, others: names.filter((one) => one.runtime !== runtime) });
  },
};
