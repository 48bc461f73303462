import type { OutcomeMail } from "./outcome-mail.ts";

export interface TipFacts {
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

/** `accept`: what is there counts as landed. `put back`: the branch goes to where our last operation left it. */
export const tipOptions = ["accept", "put back"] as const;

export interface TipQuestion {
  readonly landing: string;
  readonly tip: string;
  /** Where it goes when it is put back. */
  readonly expected: string;
  /** The subject line of the commit at the tip. */
  readonly subject: string;
}

/** Tells the operator that somebody else moved a landing branch. */
export function tipMail({ landing, tip, expected, subject }: TipQuestion): OutcomeMail {
  const context = [
    `${landing} is at ${tip.slice(0, 10)} (${subject}), but our last landing left it at ${expected.slice(0, 10)}.`,
    "Somebody else moved it, and nothing proves what is on it. Until you decide, nothing lands on it, it is not promoted, and new agents start from what our last landing left.",
    `See what is there: git log -p ${expected.slice(0, 10)}..${tip.slice(0, 10)}`,
    "accept: it counts as landed. put back: the branch goes back, and those commits stay below refs/overstory/backup/.",
  ].join("\n");
  return {
    subject: `somebody moved ${landing}`,
    body: context,
    payload: JSON.stringify({ options: tipOptions, landing, landingTip: tip, expected }),
  };
}
