/** Waits for something that another agent, the engine or a person will do. */
const openWaits = ["child", "reply", "task", "merge", "review", "approval", "explicit"] as const;

/** Waits that hold an agent until they are lifted: nothing starts for it, however much input queues up. */
export const holdingWaits = ["budget", "operator"] as const;

/**
 * Waits that park the agent: its input queues and starts nothing. A rate limit is over at a time of its own, which the
 * queued retry carries; the others hold until they are lifted.
 */
const parkingWaits = ["rate_limit", ...holdingWaits] as const;

export const waitKinds = [...openWaits, ...parkingWaits] as const;
export type WaitKind = (typeof waitKinds)[number];

export const isParking = (kind: WaitKind): boolean => parkingWaits.some((parking) => parking === kind);

/** Leases of people who took an agent over start so. */
export const attachPrefix = "attach:";

/**
 * The lease that a person at an agent's terminal holds, and the name of the pause that keeps every other turn of the
 * agent from starting. The pause ends with the lease, or when a process finds the lease's holder gone, and in no other
 * way.
 */
export const attachLease = (agentName: string): string => `${attachPrefix}${agentName}`;

/** A pause that belongs to such a lease. */
export const isAttachHold = ({ kind, ref }: { readonly kind: string; readonly ref: string }): boolean =>
  kind === "operator" && ref.startsWith(attachPrefix);
