/** How a conflict was settled in something that landed. */
export interface RememberedResolution {
  /** Digest of the three versions of the file. */
  readonly fingerprint: string;
  readonly path: string;
  /** The whole file as it landed. */
  readonly content: string;
  readonly strategy: string;
  readonly landedAt: number;
  /** How often what it settled was taken back or failed a gate. */
  readonly bad: number;
}

export interface ResolutionRows {
  get(fingerprint: string): Promise<RememberedResolution | undefined>;
  /** Replaces what was remembered for the fingerprint. */
  put(resolution: RememberedResolution): Promise<void>;
  /** Counts one more time that it did not hold; nothing when it is not known. */
  markBad(fingerprint: string): Promise<void>;
}

export const radarOutcomes = ["clean", "structured", "conflict"] as const;
export type RadarOutcome = (typeof radarOutcomes)[number];

/** What merging two commits would give. The caller orders the two. */
export interface RadarPair {
  readonly aCommit: string;
  readonly bCommit: string;
  readonly outcome: RadarOutcome;
  /** Where they meet. */
  readonly files: readonly string[];
  readonly createdAt: number;
}

export interface RadarRows {
  pair(aCommit: string, bCommit: string): Promise<RadarPair | undefined>;
  put(pair: RadarPair): Promise<void>;
  /** True the first time these branches are warned about these files, false ever after. */
  warnOnce(branchA: string, branchB: string, filesDigest: string, now: number): Promise<boolean>;
}
