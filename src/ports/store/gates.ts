import type { GateResult, Receipt } from "../../domain/gate/gate.ts";

export interface GateRows {
  /** A result that is recorded already is left as it is. */
  add(result: GateResult): Promise<void>;
  get(id: string): Promise<GateResult | undefined>;
  /** What is known about this gate on this tree, newest first. */
  on(tree: string, gateHash: string): Promise<GateResult[]>;
  /** Those that exist, in the order of the ids. */
  all(ids: readonly string[]): Promise<GateResult[]>;
  /** Newest first; `gate` keeps to one. */
  recent(limit: number, gate?: string): Promise<GateResult[]>;
}

export interface ReceiptRows {
  add(receipt: Receipt): Promise<void>;
  get(id: string): Promise<Receipt | undefined>;
  /** Newest first. */
  about(subject: string): Promise<Receipt[]>;
}
