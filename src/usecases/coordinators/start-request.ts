import type { Capability } from "../../domain/agent/capability.ts";

/** What is asked for when somebody is to lead a run. */
export interface StartRequest {
  /** Also `monitor`, which joins a run and has none of its own. */
  readonly capability: string;
  /** Its capability when it is not said. */
  readonly name?: string | undefined;
  readonly objective?: string | undefined;
  /** More about how to go about it. */
  readonly brief?: string | undefined;
  /** Where the work is meant to go; the caller has made sure that it exists. */
  readonly targetBranch?: string | undefined;
  readonly runtime?: string | undefined;
  readonly model?: string | undefined;
  readonly profile?: string | undefined;
  /** The run it joins, instead of beginning one. */
  readonly runId?: string | undefined;
  /** US dollars that the new run may cost; replaces the configured limit. Only for the operator. */
  readonly budgetUsd?: number | undefined;
  /** The caller's allow-listed variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Set by `prepare`, whatever the caller sent. */
  readonly envFile?: string;
  readonly cliVersion?: string | null;
}

export interface StartReply {
  readonly agentName: string;
  readonly agentId: string;
  readonly generation: number;
  readonly capability: Capability;
  readonly runId: string;
  readonly runtime: string;
  readonly objective: string | null;
  readonly targetBranch: string | null;
}
