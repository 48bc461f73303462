/** The operator keeps the queue from landing anything. */
export interface QueuePause {
  readonly pausedBy: string;
  readonly reason: string | null;
  readonly since: number;
}

/** In words, with what a person can do. */
export const pauseWords = ({ reason }: Pick<QueuePause, "reason">): string =>
  `the merge queue is paused${reason === null ? "" : `: ${reason}`}`;

export const resumeCommand = "ov merge resume";
