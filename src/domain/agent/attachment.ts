/** Leases of people who took an agent over start so. */
export const attachPrefix = "attach:";

/**
 * The lease that a person at an agent's terminal holds, and the name of the pause that keeps everybody else from
 * starting a turn meanwhile. The pause is lifted with the lease, by whoever sees its holder gone, and by nothing else.
 */
export const attachLease = (agentName: string): string => `${attachPrefix}${agentName}`;

/** A pause that belongs to such a lease. */
export const isAttachHold = ({ kind, ref }: { readonly kind: string; readonly ref: string }): boolean =>
  kind === "operator" && ref.startsWith(attachPrefix);
