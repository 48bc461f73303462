import type { Agent } from "../agent/agent.ts";
import type { Capability } from "../agent/capability.ts";
import { payloadFields } from "../mail/payload.ts";

/** What one agent works on, as stored. Texts in it were written by others. */
export interface Assignment {
  readonly agent: Pick<
    Agent,
    | "name"
    | "generation"
    | "capability"
    | "runId"
    | "taskId"
    | "specPath"
    | "scope"
    | "shares"
    | "worktreePath"
    | "branch"
    | "baseRef"
    | "baseCommit"
    | "parentName"
    | "depth"
  > &
    Partial<Pick<Agent, "runtimeSpec">>;
  /** Null when the parent is the operator. */
  readonly parentCapability: Capability | null;
  readonly task: { readonly title: string; readonly description: string | null } | null;
  /** What the run is for. */
  readonly objective: string | null;
  /** The criteria that the agent's work serves; of a coordinator, all of its run. */
  readonly criteria: readonly { readonly number: number; readonly text: string }[];
  /** The criteria are those of a larger task that this one is a part of. */
  readonly isPart: boolean;
  /** A spec was written for the task. */
  readonly hasSpec: boolean;
  /** Names the text of that spec. */
  readonly specDigest: string | null;
  /** That text, where it can be read. */
  readonly spec?: { readonly path: string; readonly text: string } | undefined;
  readonly asked: Asked;
  readonly siblings: readonly Sibling[];
  /** For a reviewer: whose work it judges. */
  readonly subject: Subject | null;
  /** For a reviewer: what the review before this one found in the same work. */
  readonly reviewBefore: ReviewBefore | null;
  /** For a reviewer: what the operator answered and told agents in its run, oldest first. */
  readonly decisions: readonly Decided[];
  /** It is the reviewer of a whole run. */
  readonly readsWhole: boolean;
  /** For the reviewer of a whole run: the criteria that the operator waived. */
  readonly waived: readonly { readonly number: number; readonly text: string; readonly reason: string }[];
  /** The agent that worked on the task before, where some of its work has not landed. */
  readonly predecessor: Predecessor | null;
}

/** A question of an agent that the operator has answered, or what the operator told an agent unasked. */
export interface Decided {
  /** The agent that asked, or was told. */
  readonly by: string;
  readonly question: string | null;
  readonly answer: string;
}

export interface ReviewBefore {
  readonly by: string;
  readonly verdict: string;
  readonly findings: string;
}

/** An agent that began the same task and did not finish it, with the work it left. */
export interface Predecessor {
  readonly name: string;
  readonly branch: string;
  readonly baseCommit: string | null;
  readonly headCommit: string | null;
  /** Commits on its branch. */
  readonly ahead: number;
  /** The snapshot that has its uncommitted files; null where everything was committed. */
  readonly snapshot: string | null;
}

export interface Subject {
  readonly name: string;
  readonly branch: string;
  /** Where its work began. */
  readonly baseCommit: string | null;
  /** Where it was last seen. */
  readonly headCommit: string | null;
  /** What its agent said when it finished. */
  readonly summary: string | null;
}

/** An agent that works beside this agent now. */
export interface Sibling {
  readonly name: string;
  /** Null for a name that no agent has yet. */
  readonly capability: Capability | null;
  readonly branch: string | null;
  readonly scope: readonly string[];
}

/** A quality gate as the project's settings name it. */
export interface NamedGate {
  readonly name: string;
  readonly command: string;
  readonly description?: string | undefined;
}

/** Facts that hold for every agent of the project. */
export interface ProjectTerms {
  readonly gates: readonly NamedGate[];
  /** Where the agent's program finds this text. */
  readonly instructionFile: string;
  /** Live children one parent may have; 0: any number. */
  readonly maxAgentsPerLead: number;
  /** The project keeps expertise. */
  readonly expertise: boolean;
  /** The agent only looks, is confined by the system, and works in a copy of which nothing comes back. */
  readonly runsAnything?: boolean;
}

/** What the caller of sling asked for beyond the task; kept with the agent as JSON. */
interface Asked {
  readonly siblings: readonly string[];
  readonly profile: string | null;
  /** Agents a lead may have at work at once; 0: no word about it. */
  readonly dispatchMaxAgents: number;
  readonly skipScout: boolean;
  readonly skipReview: boolean;
}

/** Reads stored wishes. A missing value, or one of another shape, counts as not asked for. */
export function readAsked(json: string | null): Asked {
  const { siblings, profile, dispatchMaxAgents, skipScout, skipReview } = payloadFields(json);
  return {
    siblings: Array.isArray(siblings) ? siblings.filter((name) => typeof name === "string") : [],
    profile: typeof profile === "string" && profile !== "" ? profile : null,
    dispatchMaxAgents: typeof dispatchMaxAgents === "number" ? dispatchMaxAgents : 0,
    skipScout: skipScout === true,
    skipReview: skipReview === true,
  };
}

/** The first line of every instruction file of ours, by which we know it again. */
export const instructionMark = "<!-- overstory:instructions -->";

/** A working style, on top of any role. Named by `--profile` and `project.defaultProfile`. */
const profiles: Readonly<Record<string, string>> = {
  "ov-delivery": `Deliver working, tested software without asking for permission. Decide what you can decide; write upward only when
the task is truly ambiguous, risky, blocked, or growing beyond what was asked.`,
  "ov-co-creation": `A person shapes this work with you. At a fork in architecture or scope write down the options with your
recommendation, send them as a \`decision_gate\` to \`operator\` and end your turn; the answer wakes you. Between forks work
on your own. Show the state after planning, after the first working version, and before the end.`,
  "ov-research": `The product is knowledge, not code. Explore, compare, and write findings with their evidence into specs. Nothing is
built and nothing is reviewed.`,
  "ov-architecture": `The product is a decision. For each open question write the context, the alternatives with what each costs, the
choice and its consequences. Prototypes only answer a question and are thrown away.`,
  "ov-red-hat": `Try to break it. Look for wrong assumptions, missing checks, races, injection and data loss. What you find becomes a
failing test; nothing is mended here.`,
  "ov-discovery": `Map an unknown code base. Only look and write down. Call something a convention of this project when you saw it in
at least three places, and name them.`,
};

export const profileNames: readonly string[] = Object.keys(profiles);

/** The text of a shipped profile. */
export const profileText = (name: string): string | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;
