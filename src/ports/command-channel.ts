import type { Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";

/** A use case to run, as the holder of the token; no token is the operator. */
export interface ChannelCall {
  readonly name: string;
  readonly request: unknown;
  readonly token?: string;
  /** The operation that this call is a step of, for refusals. The engine does not take it from a caller. */
  readonly action?: string;
}

/**
 * Runs use cases. `direct` opens the store; `remote` sends the same call to the engine, which is how sandboxed agents
 * and users of a shared database reach it. The caller cannot tell the difference: each call acts exactly once, a refusal
 * changes nothing, and the engine is woken when the call left it work.
 */
export interface CommandChannel {
  call(call: ChannelCall): Promise<Result<unknown, Refusal>>;
  /** Another number than before when another process has written since. Undefined where only a call tells. */
  changeCounter(): Promise<number | undefined>;
  close(): Promise<void>;
}
