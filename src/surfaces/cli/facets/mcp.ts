import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

/** The tools of the agent whose token this process has. */
export interface McpFacet {
  /**
   * Serves them on standard input and output until the client leaves. A refusal, for whoever is no agent, is also told to
   * the client.
   */
  serve(): Promise<Result<void, Refusal>>;
}
