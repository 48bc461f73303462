import { type Agent, hasEnded } from "../agent/agent.ts";
import type { MergeEntry, MergeStatus } from "../merge/entry.ts";
import type { Missing } from "./check.ts";

/** A child of a lead that may have a branch to land, with all that became of the branch. */
export interface ChildFacts {
  readonly agent: Pick<Agent, "name" | "state" | "branch" | "ahead" | "headCommit" | "releasedAt">;
  /** Its completion was accepted, though its last turn may not be over yet. */
  readonly finished: boolean;
  /** Its entries in the merge queue, oldest first. */
  readonly entries: readonly Pick<MergeEntry, "status" | "headCommit">[];
  /** It was decided that its task is not to be done any more. */
  readonly abandoned: boolean;
  /** It said why, where its completion was accepted without code. */
  readonly gaveReason: boolean;
  /** A merger was given its branch to join, and the branch of that merger was handed over. */
  readonly isJoined: boolean;
}

/**
 * The points that keep a lead from finishing: children at work, and branches that are neither handed over nor given up.
 * Computed from the queue and the agents; claims in mail do not count.
 */
export function openChildren(children: readonly ChildFacts[]): readonly Missing[] {
  return children.flatMap((child) => problemOf(child) ?? []);
}

/**
 * What a lead stands for: at least one branch that was handed over, or a child whose own completion was accepted without
 * code. Otherwise it has to say why nothing was to be built.
 */
export function nothingDone(children: readonly ChildFacts[], reason: string | null): readonly Missing[] {
  if (reason !== null || children.some(hasDelivered)) return [];
  const names = children.map(({ agent }) => agent.name);
  const fix =
    'sling a builder and hand its branch over with merge_ready, or say why nothing is to be built: ov done --no-code --reason "<why>" --summary "<what you found>"';
  return [{ kind: "nothing-done", message: nothingWords(children), fix, names }];
}

function nothingWords(children: readonly ChildFacts[]): string {
  const namesOf = (some: readonly ChildFacts[]): string => some.map(({ agent }) => agent.name).join(", ");
  const silent = children.filter(({ agent, finished }) => finished && agent.ahead === 0);
  const givenUp = children.filter((child) => !silent.includes(child));
  if (children.length === 0) return "nobody has built anything for this lead: there is no builder of it and no branch";
  return `nothing was handed over: ${[
    ...(givenUp.length === 0 ? [] : [`the work of ${namesOf(givenUp)} was given up`]),
    ...(silent.length === 0 ? [] : [`${namesOf(silent)} finished without code and without a reason`]),
  ].join(", and ")}`;
}

const hasDelivered = (child: ChildFacts): boolean => child.entries.some(isHandedOver) || isWithoutCode(child);

/** "Nothing was to be built" stands for work only with a reason. */
const isWithoutCode = ({ agent, finished, gaveReason }: ChildFacts): boolean =>
  finished && agent.ahead === 0 && gaveReason;

function problemOf({ agent, finished, entries, abandoned, isJoined }: ChildFacts): Missing | undefined {
  const { name, branch } = agent;
  if (agent.releasedAt !== null || abandoned) return undefined;
  if (!finished && !hasEnded(agent)) {
    return {
      kind: "open-child",
      message: `${name} is still at work${branch === null ? "" : ` on ${branch}`}`,
      fix: `end your turn and wait for it, or give it up: ov stop ${name}`,
      names: [name, ...(branch === null ? [] : [branch])],
    };
  }
  if (branch === null || agent.ahead === 0) return undefined;
  const last = entries.at(-1);
  // What a merger joined lands with the branch of the merger.
  if (isJoined && (last === undefined || isRefused(last))) return undefined;
  const why = last === undefined ? "was never handed over" : lackOf(last, agent.headCommit);
  if (why === undefined) return undefined;
  // The landing of the branch that holds it settles it too; until then it is not certain.
  const joined = isRefused(last) ? "when a merger joins it, wait until that has landed; " : "";
  return {
    kind: "unready-branch",
    message: `${branch} of ${name} ${why}`,
    fix: `${joined}hand it over: ov mail send --type merge_ready, send it back with a review, or give it up: ov release ${name} --reason "<why>"`,
    names: [branch],
  };
}

const refused: readonly MergeStatus[] = ["conflict", "failed"];

/** This entry is on its way, or has landed. */
export const isHandedOver = ({ status }: Pick<MergeEntry, "status">): boolean =>
  !isRefused({ status }) && status !== "cancelled" && status !== "reverted";

const isRefused = (last: Pick<MergeEntry, "status"> | undefined): boolean =>
  last !== undefined && refused.includes(last.status);

function lackOf(last: Pick<MergeEntry, "status" | "headCommit">, head: string | null): string | undefined {
  const hasNewer = head !== null && last.headCommit !== "" && last.headCommit !== head;
  if (hasNewer) return "has commits that are newer than what was handed over";
  // Landing releases the owner of a branch, so an owner that is not released was called back since.
  if (last.status === "reverted") return "landed, was taken out again, and was not handed over since";
  return isRefused(last) ? `could not be merged (${last.status})` : undefined;
}
