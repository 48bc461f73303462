import { type Capability, isCapability } from "../agent/capability.ts";
import { changeable } from "../agent/scope.ts";
import { payloadFields } from "../mail/payload.ts";
import { commandsOf } from "../role/common.ts";
import type { AccessKind, RoleSpec } from "../role/role-spec.ts";

/** What one agent may do with the tools of its program: its role's rules, and the facts they are about. Plain data. */
export interface GuardPolicy {
  readonly agent: string;
  readonly capability: Capability;
  readonly files: AccessKind;
  /** Command lines that it may run besides, with anything after them. */
  readonly gates: readonly string[];
  readonly taskId: string | null;
  /** The project's own checkout; everything below it that is not the agent's worktree belongs to others. */
  readonly root: string;
  /** The state directory, which holds the mail, the tokens and these rules. It lies in the git directory of the project. */
  readonly state: string;
  readonly worktree: string;
  /** Paths it owns; none: all of the worktree. */
  readonly scope: readonly string[];
  /** Files in the worktree that steer the agent itself: globs, relative to it. */
  readonly steering: readonly string[];
  /** May run the gates and single tests. Not so in rules that an earlier version wrote. */
  readonly tests: boolean;
  /** A directory of its own for files to throw away; null in rules that an earlier version wrote. */
  readonly scratch: string | null;
  /** What it may type after `ov`; null in rules that an earlier version wrote: then ov alone decides. */
  readonly commands: readonly string[] | null;
  /**
   * The system confines its programs, and its worktree is a copy of which nothing comes back: it may run any program there. Only
   * roles that change no files of the project.
   */
  readonly runsAnything: boolean;
  /** The operator has switched the guard off: everything is allowed. */
  readonly off: boolean;
}

/** Where an agent keeps files to throw away. Its programs know it as OVERSTORY_SCRATCH. */
export const scratchOf = (state: string, agentName: string): string => `${state}/agents/${agentName}/scratch`;

/** What is true for this agent alone. */
export interface GuardedAgent {
  readonly name: string;
  readonly taskId: string | null;
  readonly worktreePath: string | null;
  readonly scope: readonly string[];
  readonly shares: readonly string[];
  /** The system confines its programs, in a worktree that is a repository of its own. */
  readonly isConfined?: boolean;
}

/** What the project decides. */
export interface GuardTerms {
  readonly root: string;
  readonly state: string;
  readonly gates: readonly { readonly command: string }[];
  /** Files in a worktree that steer agents, of every runtime: globs, relative to it. */
  readonly steering: readonly string[];
  /** `sandbox.mode: off`. */
  readonly off?: boolean;
}

/** The rules of a role, for one of its agents. */
export function guardPolicyOf(spec: RoleSpec, agent: GuardedAgent, terms: GuardTerms): GuardPolicy {
  const { files, gates } = spec.access;
  return {
    agent: agent.name,
    capability: spec.capability,
    files,
    gates: gates ? terms.gates.map(({ command }) => command) : [],
    taskId: agent.taskId,
    root: terms.root,
    state: terms.state,
    worktree: agent.worktreePath ?? terms.root,
    scope: files === "scoped-write" ? changeable(agent) : [],
    steering: terms.steering,
    tests: gates,
    scratch: scratchOf(terms.state, agent.name),
    commands: commandsOf(spec),
    runsAnything: files === "read-only" && agent.worktreePath !== null && agent.isConfined === true,
    off: terms.off === true,
  };
}

/** Reads a policy that was written as JSON; undefined for anything else, which then must deny. */
export function readGuardPolicy(json: string): GuardPolicy | undefined {
  const {
    agent,
    capability,
    files,
    gates,
    taskId,
    root,
    state,
    worktree,
    scope,
    steering,
    tests,
    scratch,
    commands,
    runsAnything,
    off,
  } = payloadFields(json);
  if (!isText(agent) || !isText(capability) || !isCapability(capability)) return undefined;
  if (files !== "read-only" && files !== "scoped-write") return undefined;
  if (!isText(root) || !isText(state) || !isText(worktree) || !(taskId === null || isText(taskId))) return undefined;
  if (!isTexts(gates) || !isTexts(scope) || !isTexts(steering)) return undefined;
  if (!(tests === undefined || typeof tests === "boolean")) return undefined;
  if (!(scratch === undefined || scratch === null || isText(scratch))) return undefined;
  if (!(commands === undefined || commands === null || isTexts(commands))) return undefined;
  if (!(runsAnything === undefined || typeof runsAnything === "boolean")) return undefined;
  if (!(off === undefined || typeof off === "boolean")) return undefined;
  const later = {
    tests: tests === true,
    scratch: isText(scratch) ? scratch : null,
    commands: isTexts(commands) ? commands : null,
    runsAnything: runsAnything === true,
    off: off === true,
  };
  return { agent, capability, files, gates, taskId, root, state, worktree, scope, steering, ...later };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
