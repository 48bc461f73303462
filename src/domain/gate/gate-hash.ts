import type { Gate } from "./gate.ts";

/** What a checkout is made of besides the tree. */
export interface CheckoutTerms {
  /** Ignored paths that are kept as setup made them. */
  readonly keepIgnored: readonly string[];
  /** Ignored directories that are kept as gates left them. */
  readonly cache: readonly string[];
  /** Command that installs dependencies. */
  readonly setup: string | undefined;
}

/** The terms, and what decides how the files of a tree look, as `MergeGit.formOfFiles` names it. */
export interface GateTerms extends CheckoutTerms {
  readonly form: string;
}

/**
 * Names everything that decides the outcome of a gate besides the tree, so that a result is good again for the same
 * tree only under the same terms. The gate's name is no part of it: another name proves nothing new.
 */
export const gateHash = (
  gate: Pick<Gate, "command" | "timeoutMs">,
  terms: GateTerms,
  digest: (text: string) => string,
): string => `${termsHash(gate, terms, digest)}.${terms.form}`;

/** The part of it that does not depend on how files look. */
export function termsHash(
  { command, timeoutMs }: Pick<Gate, "command" | "timeoutMs">,
  { keepIgnored, cache, setup }: CheckoutTerms,
  digest: (text: string) => string,
): string {
  const paths = [keepIgnored, cache].map((list) => [...new Set(list)].sort());
  return digest(JSON.stringify([checkoutForm, command, timeoutMs, ...paths, setup ?? ""]));
}

/** How a checkout is made ready. Results under an earlier form do not count any more. */
const checkoutForm = "kept directories are as setup made them";
