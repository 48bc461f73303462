import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import type { Looked, Place } from "./place.ts";

export interface GateRows {
  /** A result that is recorded already is left as it is. */
  add(result: GateResult): Promise<void>;
  get(id: string): Promise<GateResult | undefined>;
  /** What is known about this gate on this tree, newest first. */
  on(tree: string, gateHash: string): Promise<GateResult[]>;
  /** The same, however files looked: by the part of the hash that does not depend on it. */
  onAnyForm(tree: string, termsHash: string): Promise<GateResult[]>;
  /** Those that exist, in the order of the ids. */
  all(ids: readonly string[]): Promise<GateResult[]>;
  /** Newest first; `gate` keeps to one. */
  recent(limit: number, gate?: string): Promise<GateResult[]>;
  /**
   * Looks at the newest results before a place, at most so many, and deletes those on trees that no receipt speaks about.
   * Whoever calls it sees to it that no gates are being asked: a result may be on its way into a receipt.
   */
  purgeUnproving(before: Place, most: number): Promise<Looked>;
}

export interface ReceiptRows {
  add(receipt: Receipt): Promise<void>;
  get(id: string): Promise<Receipt | undefined>;
  /** Newest first. */
  about(subject: string): Promise<Receipt[]>;
  /** Those of completions and checks, not of landings, before a place: the newest so many, newest first. */
  passing(before: Place, most: number): Promise<Receipt[]>;
  /** Answers how many there were. */
  remove(ids: readonly string[]): Promise<number>;
}
