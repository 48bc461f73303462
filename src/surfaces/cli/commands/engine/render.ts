import type { Workload } from "../../../../usecases/engine/workload.ts";

export const workLine = ({ runningTurns, queuedTurns }: Workload): string =>
  `Turns: ${runningTurns} running, ${queuedTurns} queued`;
