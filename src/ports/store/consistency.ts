import type { Agent } from "../../domain/agent/agent.ts";
import type { DanglingRow, StoredRows } from "../../domain/consistency/facts.ts";

/** Columns of an agent that only `ov doctor` sets by themselves. */
export type MendedAgent = Partial<Pick<Agent, "outcome" | "endedAt" | "releasedAt" | "parentName">>;

/** What the rules of `domain/consistency` look at, and the repairs that no other rows have. */
export interface ConsistencyRows {
  /** Rows that have not come to their end, and those by which files and refs are known. */
  read(): Promise<StoredRows>;
  setAgent(id: string, change: MendedAgent): Promise<void>;
  revokeToken(digest: string, now: number): Promise<void>;
  /** Deletes a link if one of its two ends is missing. */
  deleteLink(link: DanglingRow): Promise<void>;
  deleteRemoval(agentName: string): Promise<void>;
}
