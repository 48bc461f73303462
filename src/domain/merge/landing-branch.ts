import { payloadFields } from "../mail/payload.ts";
import type { OutcomeMail } from "./outcome-mail.ts";
import { promoteCommand } from "./words.ts";

/** Below this every landing branch of ours is found. */
export const integrationPrefix = "overstory/integration/";

export interface LandingFacts {
  /** The branch the work is meant for. */
  readonly target: string;
  readonly runId: string | null;
  /** The target is checked out: moving it would leave that checkout with files of another commit. */
  readonly targetCheckedOut: boolean;
  /** Landing branches of the same target, the newest first, each with whether the target contains it. */
  readonly earlier: readonly { readonly branch: string; readonly promoted: boolean }[];
}

/**
 * Where work for a target is put. The target itself while it is checked out nowhere; else a branch of our own, which a
 * person takes over when they like. Work that waits there for being taken over is built upon, not left behind.
 */
export function landingBranchFor({ target, runId, targetCheckedOut, earlier }: LandingFacts): string {
  const waiting = earlier.find(({ promoted }) => !promoted);
  if (waiting !== undefined) return waiting.branch;
  if (!targetCheckedOut) return target;
  return runId === null ? ownLanding(target) : integrationPrefix + runId;
}

/**
 * The landing branch of a target for work without a run. Each target has its own. A slash cannot stay, because git has no
 * branch below another branch's name, so it is written as in a URL. So is a dash: earlier versions wrote it for a slash,
 * and such a branch may still hold work for another target.
 */
export const ownLanding = (target: string): string =>
  integrationPrefix + target.replaceAll("%", "%25").replaceAll("/", "%2F").replaceAll("-", "%2D");

/**
 * The name that earlier versions gave it, which `release/1.0` and `release-1.0` had in common: it belongs to the target
 * that its record names. Work that waits there is promoted from there.
 */
export const formerLanding = (target: string): string => integrationPrefix + target.replaceAll("/", "-");

export const isIntegration = (branch: string): boolean => branch.startsWith(integrationPrefix);

/**
 * Where a queued branch would land, in words. For a target itself that is found out when it lands: another branch takes
 * it while the target is checked out.
 */
export const landingWords = (branch: string): string =>
  isIntegration(branch) ? branch : `${branch}, or on a landing branch for it while ${branch} is checked out`;

interface TipFacts {
  readonly tip: string;
  /** Where our last operation on the branch left it; null when there was none. */
  readonly last: string | null;
  /** The target has everything that is at the tip. */
  readonly targetHasTip: boolean;
  /** The target has everything that the last operation left. */
  readonly targetHasLast: boolean;
}

/**
 * Is a landing branch where we left it? After its work was promoted it may be anywhere on the target: we put it there
 * ourselves when the next work begins, and nothing on it is new to the target.
 */
export const isOurTip = ({ tip, last, targetHasTip, targetHasLast }: TipFacts): boolean =>
  tip === last || (targetHasTip && (last === null || targetHasLast));

/** `accept`: the branch counts as landed as it is. `put back`: the branch goes to where our last operation left it. */
export const tipOptions = ["accept", "put back"] as const;

export interface TipQuestion {
  readonly landing: string;
  readonly tip: string;
  /** Where it goes when it is put back. */
  readonly expected: string;
  /** The subject line of the commit at the tip. */
  readonly subject: string;
  /** The branch was moved backwards: all its commits came from our own operations. */
  readonly isBack: boolean;
  /** Landings that it does not have any more. */
  readonly lost: readonly LostLanding[];
  /** Of a target that work lands on directly: which files on it decide how work is judged, a sentence about each. */
  readonly steers: readonly string[];
  /** Why it could not be put back when that was tried; null when it was not tried. */
  readonly failed: string | null;
}

/** A landing that leaves a landing branch by the operator's decision. */
export interface LostLanding {
  /** The number of the entry. */
  readonly id: number;
  readonly branch: string;
}

/** The landings that a question of ours names; none where it names none. */
export function lostIn(payload: string | null): readonly LostLanding[] {
  const { lost } = payloadFields(payload);
  if (!Array.isArray(lost)) return [];
  return lost.filter((one) => typeof one?.id === "number" && typeof one.branch === "string");
}

export const lostWords = (lost: readonly LostLanding[]): string =>
  lost.map(({ id, branch }) => `${branch} (#${id})`).join(", ");

const leaveIt = "Leave the branch where it is checked out (git switch <another branch>), then decide again.";

/** A problem that names its own command needs no other one. */
const wayOn = (failed: string): string => (failed.includes("git symbolic-ref -d") ? "Then decide again." : leaveIt);

/** Tells the operator that a landing branch was moved by another program or person. */
export function tipMail({ landing, tip, expected, subject, isBack, lost, steers, failed }: TipQuestion): OutcomeMail {
  const [from, to] = isBack ? [tip, expected] : [expected, tip];
  const range = `${from.slice(0, 10)}..${to.slice(0, 10)}`;
  const goes = lost.length === 0 ? "what it lost stays out" : `these landings go: ${lostWords(lost)}`;
  const at = `${landing} is at ${tip.slice(0, 10)} (${subject})`;
  const found =
    steers.length === 0
      ? [
          `${at}, but our last landing left it at ${expected.slice(0, 10)}.`,
          "Somebody else moved it, and nothing proves what is on it. Until you decide, nothing lands on it, it is not promoted, and new agents start from what our last landing left.",
        ]
      : [
          `${at}. No landing and no checkout of yours put it there; an agent may have. Since ${expected.slice(0, 10)}:`,
          ...steers.map((one) => `- ${one}`),
          `Until you decide, nothing lands on it or takes it in, and new agents start without it. Where you have it checked out, put it back yourself: git reset ${expected.slice(0, 10)}`,
        ];
  const context = [
    ...found,
    ...(failed === null ? [] : [`put back was tried, and did not work: ${failed}. ${wayOn(failed)}`]),
    `See what ${isBack ? "it lost" : "is there"}: git log -p ${range}`,
    isBack
      ? `accept: the branch stays there, and ${goes}. put back: the branch gets everything again.`
      : `accept: it counts as landed${lost.length === 0 ? "" : `, and ${goes}`}. put back: the branch goes back, and those commits stay below refs/overstory/backup/.`,
  ].join("\n");
  return {
    subject: `somebody moved ${landing}`,
    body: context,
    payload: JSON.stringify({ options: tipOptions, landing, landingTip: tip, expected, lost }),
  };
}

/**
 * `leave out`: the landed work is replayed onto the target as it is now. `bring back`: the target gets everything that
 * the landing branch has, also the commits that were taken out of the target.
 */
export const rewrittenOptions = ["leave out", "bring back"] as const;

export interface RewrittenTarget {
  readonly landing: string;
  readonly target: string;
  /** The commit of the target that the landing branch was built on, and that the target no longer has. */
  readonly dropped: string;
  /** The tip of the target. */
  readonly head: string;
}

/** What the operator can choose when landed work cannot be replayed onto a rewritten target. */
const replayAdvice = (target: string): string =>
  `Ways out: take what landed there out (ov merge log, then ov merge undo <number>) and choose leave out; or change ${target}; or choose bring back, promote, join the files that are named then by hand, and take out again what you do not want.`;

/** Tells the operator that commits were taken out of the target. */
export function rewrittenMail(
  question: RewrittenTarget & {
    readonly subject: string;
    readonly runId: string | null;
    /** Landings that go when the commits are left out. */
    readonly lost: readonly LostLanding[];
    /** Why the landed work could not be replayed when that was tried; null when it was not tried. */
    readonly failed: string | null;
  },
): OutcomeMail {
  const { landing, target, dropped, head, subject, runId, lost, failed } = question;
  const goes = lost.length === 0 ? "" : `, and these landings go: ${lostWords(lost)}`;
  const short = (commit: string): string => commit.slice(0, 10);
  const body = [
    `${target} had ${short(dropped)} (${subject}), and ${landing} rests on it. Now ${target} is at ${short(head)} and has it no more: it was amended, rebased or reset.`,
    `Promoting would put back what was taken out, so ${landing} is not promoted until you decide.`,
    `See what was taken out: git log -p ${short(head)}..${short(dropped)}`,
    ...(failed === null ? [] : [`leave out was tried, and did not work: ${failed}.`]),
    failed === null
      ? `leave out: what landed since is replayed onto ${target} as it is now, commit by commit where that is possible${goes}. bring back: ${target} gets everything again. Then: ${promoteCommand({ runId, target })}`
      : `${replayAdvice(target)} Then: ${promoteCommand({ runId, target })}`,
  ].join("\n");
  return {
    subject: `${target} has lost commits that ${landing} rests on`,
    body,
    payload: JSON.stringify({ options: rewrittenOptions, landing, target, dropped, head, lost }),
  };
}
