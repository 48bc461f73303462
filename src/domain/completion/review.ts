import { type ReviewVerdict, sendsBack } from "./request.ts";

/** So many reviews in a row may send a branch back before somebody else has to decide. */
export const mostFailedReviews = 3;

/**
 * How often the branch was sent back since it last passed. Verdicts in the order in which they were given; the count
 * belongs to the name that owns the branch, so it survives each reopening.
 */
export function failsInARow(verdicts: readonly ReviewVerdict[]): number {
  const last = verdicts.findLastIndex((verdict) => !sendsBack(verdict));
  return verdicts.length - 1 - last;
}

/** This verdict, after those, is for somebody above the lead: another round would be the same again. */
export const escalates = (before: readonly ReviewVerdict[], verdict: ReviewVerdict): boolean =>
  sendsBack(verdict) && failsInARow([...before, verdict]) >= mostFailedReviews;
