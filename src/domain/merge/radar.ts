import { forPayload, namedIn } from "../text/long-list.ts";
import type { OutcomeMail } from "./outcome-mail.ts";
import { joinCommand } from "./words.ts";

/** A branch that others may collide with: an agent's work, or a branch on which work lands. */
export interface RadarHead {
  readonly branch: string;
  readonly commit: string;
  /** Null: work lands here. */
  readonly agentName: string | null;
  /** Where it lands; its own name for a branch on which work lands. */
  readonly landsOn: string;
}

export interface HeadPair {
  readonly a: RadarHead;
  readonly b: RadarHead;
}

/** Which branches can meet: those that land on the same one, and each with that one. Two that are alike cannot collide. */
export function pairsOf<Head extends RadarHead>(
  heads: readonly Head[],
): readonly { readonly a: Head; readonly b: Head }[] {
  const ordered = heads.toSorted((one, other) => compare(one.branch, other.branch));
  return ordered.flatMap((a, at) =>
    ordered
      .slice(at + 1)
      .filter((b) => a.landsOn === b.landsOn && a.commit !== b.commit && a.branch !== b.branch)
      .map((b) => ({ a, b })),
  );
}

/** Two commits as one pair, whichever was named first. */
export interface CommitPair {
  readonly ours: string;
  readonly theirs: string;
}

export const commitsOf = ({ a, b }: HeadPair): CommitPair =>
  a.commit < b.commit ? { ours: a.commit, theirs: b.commit } : { ours: b.commit, theirs: a.commit };

export const pairKey = ({ ours, theirs }: CommitPair): string => `${ours} ${theirs}`;

export interface Collision extends HeadPair {
  /** None when the two have no history in common. */
  readonly files: readonly string[];
}

/**
 * The notices that the owner of a branch gets once: that the branch collides in a file, with however many others, and
 * that the work of the others has landed. Empty when the branches share no history.
 */
export function collisionsToTell({
  a,
  b,
  files,
}: Collision): readonly { readonly branch: string; readonly file: string }[] {
  const owned = [a, b].filter(({ agentName }) => agentName !== null);
  return owned.flatMap(({ branch }) => (files.length === 0 ? [""] : files).map((file) => ({ branch, file })));
}

/** What two agents have ahead of them, in one sentence. */
export function collisionSentence({
  agents: [one, other],
  files,
}: {
  readonly agents: readonly [string, string];
  readonly files: readonly string[];
}): string {
  if (files.length === 0) return `${one} and ${other} have no commit in common, so git cannot merge their branches`;
  return `${one} and ${other} change the same part of ${namedIn(files)}: whichever lands second will meet a merge conflict`;
}

/** Tells those concerned early, while it is cheap to agree on who changes what. */
export function collisionMail({ a, b, files }: Collision): OutcomeMail {
  const [first, second] = [nameOf(a), nameOf(b)];
  const landed = [a, b].find(({ agentName }) => agentName === null);
  const late = landed === undefined ? "Whichever lands second" : nameOf(landed === a ? b : a);
  const what =
    files.length === 0
      ? `${first} and ${second} have no commit in common, so git cannot merge them.`
      : `${first} and ${second} change the same part of ${namedIn(files)}. ${late} will meet a merge conflict.`;
  const settle = `settle the conflict and commit: ${joinCommand(a.landsOn)}`;
  const { shown, left } = forPayload(files);
  return {
    subject: `branches collide: ${a.branch} and ${b.branch}`,
    body: [
      what,
      ...(landed === undefined
        ? [
            "Nobody has to stop, and nothing was changed. Either agree by mail on who changes that part, or let one branch land",
            `first; then it is for the agent of the other to run this in its own worktree, and to ${settle}`,
          ]
        : [
            `Nobody has to stop, and nothing was changed. What is on ${landed.branch} has landed already. It is for`,
            `${(landed === a ? b : a).agentName} to run this in its own worktree, best before it reports, and to ${settle}`,
          ]),
      "You are told once for each file. All pairs: ov merge radar",
    ].join("\n"),
    payload: JSON.stringify({
      branches: [a.branch, b.branch],
      agents: [a.agentName, b.agentName],
      files: shown,
      ...(left === 0 ? {} : { filesTotal: files.length }),
    }),
  };
}

const nameOf = ({ branch, agentName }: RadarHead): string => (agentName === null ? branch : `${branch} (${agentName})`);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
