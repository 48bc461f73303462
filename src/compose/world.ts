import type { Call, World } from "../usecases/operation.ts";

export interface WorldTerms {
  readonly call: Call;
  readonly warn: (line: string) => void;
}

/** The ports of effects and streams, each loaded when it is asked for. */
export const makeWorld = ({ call, warn }: WorldTerms): World => ({
  call,
  warn,
  sleep: (ms) => Bun.sleep(ms),
  processes: async () => (await import("../host/processes.ts")).linuxProcesses,
});
