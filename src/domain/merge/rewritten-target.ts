import { promoteCommand } from "./join-command.ts";
import { type LostLanding, lostWords } from "./landing-tip.ts";
import type { OutcomeMail } from "./outcome-mail.ts";

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

/** Tells the operator that commits were taken out of the target. */
export function rewrittenMail(
  question: RewrittenTarget & {
    readonly subject: string;
    readonly runId: string | null;
    /** Landings that go when the commits are left out. */
    readonly lost: readonly LostLanding[];
  },
): OutcomeMail {
  const { landing, target, dropped, head, subject, runId, lost } = question;
  const goes = lost.length === 0 ? "" : `, and these landings go: ${lostWords(lost)}`;
  const short = (commit: string): string => commit.slice(0, 10);
  const body = [
    `${target} had ${short(dropped)} (${subject}), and ${landing} rests on it. Now ${target} is at ${short(head)} and has it no more: it was amended, rebased or reset.`,
    `Promoting would put back what was taken out, so ${landing} is not promoted until you decide.`,
    `See what was taken out: git log -p ${short(head)}..${short(dropped)}`,
    `leave out: what landed since is replayed onto ${target} as it is now${goes}. bring back: ${target} gets everything again. Then: ${promoteCommand({ runId, target })}`,
  ].join("\n");
  return {
    subject: `${target} has lost commits that ${landing} rests on`,
    body,
    payload: JSON.stringify({ options: rewrittenOptions, landing, target, dropped, head, lost }),
  };
}
