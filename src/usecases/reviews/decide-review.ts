import { reviewMail } from "../../domain/completion/report.ts";
import type { Finding } from "../../domain/completion/request.ts";
import { severities } from "../../domain/mail/payload-shapes.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, list, oneOf, orNull, text, whole } from "../../domain/schema/schema.ts";
import type { SendReply } from "../mail/submit.ts";
import type { Effect } from "../operation.ts";

export interface SubmitReviewRequest {
  readonly name: string;
  readonly verdict: "needs_changes" | "fail";
  /** Empty where the findings say everything. */
  readonly summary: string;
  readonly findings: readonly {
    readonly file: string;
    readonly line: number | null;
    readonly severity: (typeof severities)[number];
    readonly text: string;
  }[];
  /** The commit that was looked at; null where some of it was not committed. */
  readonly commit: string | null;
}

/** The operator's own review sends a branch back: one message with everything that was found. */
export const submitReview: Effect<SubmitReviewRequest, SendReply> = {
  kind: "effect",
  request: fields({
    name: text,
    verdict: oneOf(["needs_changes", "fail"]),
    summary: text,
    findings: list(fields({ file: text, line: orNull(whole), severity: oneOf(severities), text })),
    commit: orNull(text),
  }),
  place: "engine",
  operatorOnly: true,
  action: ({ name }) => `review ${name}`,
  run: async (world, { name, verdict, summary, findings, commit }) => {
    const found = await world.call("review.show", { name });
    if (!found.ok) return found;
    const said = summary.trim();
    if (said === "" && findings.length === 0) {
      return no(invalid("findings", "are empty, and there is no summary: say what is to be changed"));
    }
    if (findings.some((one) => one.text.trim() === "")) return no(invalid("findings", "has one without a text"));
    const words = said === "" ? `${findings.length === 1 ? "1 finding" : `${findings.length} findings`}.` : said;
    const all = findings.map((one): Finding => ({ ...one, text: one.text.trim(), expected: null }));
    const mail = reviewMail({ summary: words, verdict, findings: all }, found.value.branch, commit);
    const { type, subject, body, payload } = mail;
    return world.call("mail.send", { to: name, type, subject, body, payload });
  },
};

export interface AcceptReviewRequest {
  readonly name: string;
  /** The commit that was looked at. */
  readonly head: string;
}

/**
 * The operator's word that a branch may land as it was looked at: an entry that waits for approval is approved, any other
 * branch is put into the queue with the approval. Refused when the branch has moved, or has work that would be left behind.
 */
export const acceptReview: Effect<AcceptReviewRequest, { readonly entry: MergeEntry }> = {
  kind: "effect",
  request: fields({ name: text, head: text }),
  place: "engine",
  operatorOnly: true,
  action: ({ name }) => `accept the work of ${name}`,
  run: async (world, { name, head }) => {
    const found = await world.call("review.show", { name });
    if (!found.ok) return found;
    const { branch, entry } = found.value;
    const rests = await world.call("branch.listRests", { branches: [branch] });
    if (!rests.ok) return rests;
    const [rest] = rests.value.rests;
    if (rest !== undefined) return no(rest.refusal);
    const tip = await world.call("branch.find", { branch });
    if (!tip.ok) return tip;
    if (tip.value.commit !== head) {
      const why = `is no longer the newest commit of ${branch}, which is ${tip.value.commit.slice(0, 12)} now: look at it, then accept it`;
      return no(invalid("head", why, { value: head.slice(0, 12) }));
    }
    if (entry?.approval === "waiting" && entry.headCommit === head) {
      const approved = await world.call("merge.approve", { of: String(entry.id) });
      if (!approved.ok) return approved;
      return ok({ entry: approved.value.approved[0] ?? entry });
    }
    const planned = await world.call("merge.planAdd", { branch, listsFiles: true });
    if (!planned.ok) return planned;
    const added = await world.call("merge.add", { ...planned.value, approve: true });
    return added.ok ? ok({ entry: added.value.entry }) : added;
  },
};
