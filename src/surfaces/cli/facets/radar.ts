import type { CommitPair } from "../../../domain/merge/radar.ts";
import type { JudgedPair } from "../../../usecases/merge/judge-pairs.ts";

/** What the radar learns from git when nobody has looked yet. Nothing here writes to the project or its repository. */
export interface RadarFacet {
  /** The tip of every branch, by its name. */
  tips(): Promise<Readonly<Record<string, string>>>;
  /** What merging each of these would give, by the rules that landing follows; what git cannot read is left out. */
  judge(pairs: readonly CommitPair[]): Promise<readonly JudgedPair[]>;
}
