import type { TokenCounts } from "../domain/budget/usage.ts";

/** What the file in which a program keeps a conversation says about its use. */
export interface Transcript {
  readonly path: string;
  readonly sessionId: string;
  readonly runtime: string;
  /** Each answer of a model once, in their order. */
  readonly answers: readonly TranscriptAnswer[];
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface TranscriptAnswer extends TokenCounts {
  readonly messageId: string;
  readonly model: string | null;
}

/** Conversations of people, as their programs keep them. */
export interface Transcripts {
  /** Undefined where there is no such file, or no answer of a model in it. */
  read(path: string): Transcript | undefined;
  /** The one in this directory that was written to last. */
  newest(): Transcript | undefined;
}
