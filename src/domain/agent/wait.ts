/** Waits for something that somebody else will do. */
const openWaits = ["child", "reply", "merge", "review", "approval", "explicit"] as const;

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
