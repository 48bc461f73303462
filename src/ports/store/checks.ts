import type { CheckStatus, StoredCheck } from "../../domain/completion/check.ts";
import type { Place } from "./place.ts";

export interface CheckRows {
  insert(check: Omit<StoredCheck, "seq">): Promise<void>;
  get(id: string): Promise<StoredCheck | undefined>;
  /** Those that wait to be taken up, oldest first. */
  queued(): Promise<StoredCheck[]>;
  /** Those that somebody works on, oldest first. */
  running(): Promise<StoredCheck[]>;
  /** Completions of this incarnation, oldest first. */
  completionsOf(agentId: string): Promise<StoredCheck[]>;
  /** Changes a check that has one of these statuses. False when it has another by now: nothing was changed. */
  change(
    id: string,
    from: readonly CheckStatus[],
    change: Partial<Omit<StoredCheck, "seq" | "id" | "kind">>,
  ): Promise<boolean>;
  /** Something waits for an answer, about this incarnation when it is named. */
  dueWork(agentId?: string): Promise<boolean>;
  /** Those that were answered before a place: the newest so many, newest first. */
  answered(before: Place, most: number): Promise<StoredCheck[]>;
  /** Deletes checks that are answered; answers how many. */
  remove(ids: readonly string[]): Promise<number>;
}
