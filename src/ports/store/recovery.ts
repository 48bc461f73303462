/** Where an agent stands, written at every settling, so that a successor or a compacted conversation can go on. */
export interface Checkpoint {
  readonly agentName: string;
  readonly generation: number;
  readonly taskId: string | null;
  readonly turnId: string | null;
  readonly summary: string;
  readonly files: readonly string[];
  readonly branch: string | null;
  readonly pending: string;
  readonly updatedAt: number;
}

export const handoffReasons = ["reopened", "recovered", "compaction", "manual"] as const;
export type HandoffReason = (typeof handoffReasons)[number];

/** One passing on of work from an incarnation to the next. */
export interface Handoff {
  readonly seq: number;
  readonly agentName: string;
  readonly fromGeneration: number;
  readonly toGeneration: number | null;
  readonly reason: HandoffReason;
  readonly checkpoint: string;
  readonly createdAt: number;
}

/** What a name has done over all its incarnations. */
export interface Identity {
  readonly agentName: string;
  readonly capability: string;
  readonly createdAt: number;
  readonly completed: number;
  readonly recentTasks: readonly { readonly taskId: string; readonly summary: string; readonly completedAt: number }[];
}

export interface RecoveryRows {
  putCheckpoint(checkpoint: Checkpoint): Promise<void>;
  checkpoint(agentName: string): Promise<Checkpoint | undefined>;
  addHandoff(handoff: Omit<Handoff, "seq">): Promise<void>;
  handoffs(agentName: string): Promise<Handoff[]>;
  identity(agentName: string): Promise<Identity | undefined>;
  putIdentity(identity: Identity): Promise<void>;
}
