import type { Workload } from "../../facets/engine.ts";

export const workLine = ({ runningTurns, queuedTurns }: Workload): string =>
  `Turns: ${runningTurns} running, ${queuedTurns} queued`;
