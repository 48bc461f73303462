import type { Gate } from "./gate.ts";

/** What a checkout is made of besides the tree. */
export interface CheckoutTerms {
  /** Ignored directories that survive between runs. */
  readonly keepIgnored: readonly string[];
  /** Command that installs dependencies. */
  readonly setup: string | undefined;
}

/**
 * Names everything that decides the outcome of a gate besides the tree, so that a result is good again for the same
 * tree only under the same terms. The gate's name is no part of it: another name proves nothing new.
 */
export function gateHash(
  { command, timeoutMs }: Pick<Gate, "command" | "timeoutMs">,
  { keepIgnored, setup }: CheckoutTerms,
  digest: (text: string) => string,
): string {
  return digest(JSON.stringify([command, timeoutMs, [...new Set(keepIgnored)].sort(), setup ?? ""]));
}
