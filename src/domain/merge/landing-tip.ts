import { payloadFields } from "../mail/payload.ts";
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
  /** The branch was moved backwards: it has nothing that we did not put there. */
  readonly isBack: boolean;
  /** Landings that it does not have any more because of that. */
  readonly lost: readonly LostLanding[];
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

/** Tells the operator that somebody else moved a landing branch. */
export function tipMail({ landing, tip, expected, subject, isBack, lost }: TipQuestion): OutcomeMail {
  const [from, to] = isBack ? [tip, expected] : [expected, tip];
  const range = `${from.slice(0, 10)}..${to.slice(0, 10)}`;
  const goes = lost.length === 0 ? "what it lost stays out" : `these landings go: ${lostWords(lost)}`;
  const context = [
    `${landing} is at ${tip.slice(0, 10)} (${subject}), but our last landing left it at ${expected.slice(0, 10)}.`,
    "Somebody else moved it, and nothing proves what is on it. Until you decide, nothing lands on it, it is not promoted, and new agents start from what our last landing left.",
    `See what ${isBack ? "it lost" : "is there"}: git log -p ${range}`,
    isBack
      ? `accept: the branch stays there, and ${goes}. put back: the branch gets everything again.`
      : "accept: it counts as landed. put back: the branch goes back, and those commits stay below refs/overstory/backup/.",
  ].join("\n");
  return {
    subject: `somebody moved ${landing}`,
    body: context,
    payload: JSON.stringify({ options: tipOptions, landing, landingTip: tip, expected, lost }),
  };
}
