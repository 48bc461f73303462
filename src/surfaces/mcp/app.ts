import type { Call } from "../../usecases/operation.ts";

/** What tools may ask of the program, as the agent whose token it is. Filled by `compose`. */
export interface McpApp {
  readonly version: string;
  readonly call: Call;
  /** Ends early, without an error, when nobody waits any more. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
