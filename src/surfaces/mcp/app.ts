import type { Call, Follow } from "../../usecases/operation.ts";

/** What tools may ask of the program, as the agent whose token it is. Filled by `compose`. */
export interface McpApp {
  readonly version: string;
  readonly call: Call;
  readonly follow: Follow;
}
