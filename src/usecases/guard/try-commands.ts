import { type Capability, capabilities } from "../../domain/agent/capability.ts";
import { Failure } from "../../domain/failure.ts";
import { decide } from "../../domain/guard/decide.ts";
import { isInside } from "../../domain/guard/paths.ts";
import { type GuardTerms, guardPolicyOf } from "../../domain/guard/policy.ts";
import type { GuardRule } from "../../domain/guard/tool-use.ts";
import { ok } from "../../domain/result.ts";
import { roleOf } from "../../domain/role/roles.ts";
import { fields, list, oneOf, orNull, text } from "../../domain/schema/schema.ts";
import type { Effect, World } from "../operation.ts";

/** A command that an agent of this role would run. All paths are absolute. */
export interface TriedCommand {
  readonly role: Capability;
  readonly command: string;
  /** Where it would be typed; in the worktree when left out. */
  readonly cwd: string | null;
  /** The worktree of the agent; where the caller stands when left out. */
  readonly worktree: string | null;
  readonly task: string | null;
  /** Its name; when left out, that of its worktree. */
  readonly agent?: string | null;
}

/** The guard's answer about a command. The other fields are null for an allowed command. */
export interface TryVerdict {
  readonly decision: "allow" | "deny";
  readonly ruleId: GuardRule | null;
  readonly reason: string | null;
  /** The part of the command that is meant. */
  readonly of: string | null;
}

/**
 * What the guard would say if agents ran these commands. Nothing is run. In a project, its gates and its place count;
 * elsewhere a worktree is taken for one of several in the directory above it.
 */
export const tryCommands: Effect<{ readonly commands: readonly TriedCommand[] }, readonly TryVerdict[]> = {
  kind: "effect",
  request: fields({
    commands: list(
      fields(
        {
          role: oneOf(capabilities),
          command: text,
          cwd: orNull(text),
          worktree: orNull(text),
          task: orNull(text),
        },
        { agent: orNull(text) },
      ),
    ),
  }),
  place: "caller",
  run: async (world, { commands }) => {
    const { here, machine } = await world.toolGuard();
    const project = await projectTerms(world);
    const { parse, places } = await machine();
    return ok(
      commands.map(({ role, command, cwd, worktree, task, agent: named }): TryVerdict => {
        const place = worktree ?? here;
        const known = project !== undefined && isInside(place, project.root) ? project : undefined;
        const spec = roleOf(role);
        const isRoot = spec.access.place === "root";
        const terms = known ?? strangeTerms(isRoot ? place : rootAbove(place, places.temporary));
        const name = named ?? place.slice(place.lastIndexOf("/") + 1);
        const agent = { name, taskId: task, worktreePath: place, scope: [], shares: [] };
        const use = { tool: "Bash", kind: "execute", command, paths: [], changes: false, attended: false } as const;
        const policy = guardPolicyOf(spec, agent, terms);
        const verdict = decide({ ...use, cwd: cwd ?? place }, policy, { parse, places });
        if (verdict.decision === "allow") return { decision: "allow", ruleId: null, reason: null, of: null };
        return { decision: "deny", ruleId: verdict.rule, reason: verdict.reason, of: verdict.of ?? null };
      }),
    );
  },
};

/** The rules of the project around the caller. Undefined without a project, or with an unreadable one. */
async function projectTerms(world: World): Promise<GuardTerms | undefined> {
  try {
    const { root, state } = await world.place();
    const { qualityGates: gates } = (await world.settings()).project;
    return { root, state, gates, steering: [] };
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** Of a project that we do not know. */
const strangeTerms = (root: string): GuardTerms => ({
  root,
  state: `${root}/.git/ov-state`,
  gates: [],
  steering: [],
});

/** The project of a worktree. In a directory of temporary files, the directory above belongs to no project. */
function rootAbove(worktree: string, temporary: readonly string[]): string {
  const above = worktree.replace(/\/+$/, "").replace(/(\/\.overstory\/worktrees)?\/[^/]*$/, "");
  return above === "" || temporary.includes(above) ? worktree : above;
}
