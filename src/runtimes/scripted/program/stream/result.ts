import type { ApiFailure } from "./events.ts";
import { costInUsd, modelUsageOf, noTokens, type Tokens, usageOf } from "./tokens.ts";

/** How a turn that gets a `result` ended. */
export type Outcome =
  | { readonly kind: "success"; readonly text: string }
  | { readonly kind: "failed"; readonly text: string }
  | { readonly kind: "interrupted"; readonly duringTool: boolean }
  | { readonly kind: "api-error"; readonly failure: ApiFailure }
  | { readonly kind: "budget"; readonly limitUsd: number }
  | { readonly kind: "session-lost"; readonly session: string };

export interface TurnAccount {
  readonly session: string;
  readonly model: string;
  readonly startedAt: number;
  readonly now: number;
  readonly replies: number;
  /** Used by this turn. */
  readonly tokens: Tokens;
  /** Used by the whole conversation, this turn included; resumed processes go on counting. */
  readonly total: Readonly<Record<string, Tokens>>;
  /** How many results this process gave before. */
  readonly index: number;
}

/** The last event of a turn. */
export function resultEvent(outcome: Outcome, account: TurnAccount) {
  const spent = Math.max(0, account.now - account.startedAt);
  const since = account.replies === 0 ? {} : { [account.model]: account.tokens };
  return {
    duration_api_ms: spent,
    stop_reason: stopReason(outcome),
    session_id: account.session,
    total_cost_usd: Object.values(account.total).reduce((sum, tokens) => sum + costInUsd(tokens), 0),
    usage: usageOf(account.tokens),
    modelUsage: modelUsageOf(account.total),
    permission_denials: [],
    terminal_reason: terminalReason(outcome),
    fast_mode_state: "off",
    fast_mode_disabled_reason: "sdk_opt_in_required",
    subagent_stats: noSubagents,
    safety_stops: 0,
    is_error: outcome.kind !== "success",
    num_turns: Math.max(1, account.replies),
    ...ending(outcome, spent),
    type: "result",
    duration_ms: spent,
    uuid: crypto.randomUUID(),
    queued_turn_count: 0,
    result_index: account.index,
    model_usage_since_last_result: modelUsageOf(since),
  };
}

/** The answer to a resume of an unknown session id. */
export function unknownSessionResult(session: string) {
  return {
    type: "result",
    subtype: "error_during_execution",
    duration_ms: 0,
    duration_api_ms: 0,
    is_error: true,
    num_turns: 0,
    stop_reason: null,
    session_id: session,
    total_cost_usd: 0,
    usage: usageOf(noTokens),
    modelUsage: {},
    permission_denials: [],
    uuid: crypto.randomUUID(),
    errors: [unknownSession(session)],
    result_index: 0,
  };
}

export const unknownSession = (session: string): string => `No conversation found with session ID: ${session}`;

/** The part of a result that depends on how the turn ended. An API error is called a "success", as in the real stream. */
function ending(outcome: Outcome, spent: number): object {
  switch (outcome.kind) {
    case "success":
      return {
        subtype: "success",
        api_error_status: null,
        result: outcome.text,
        ttft_ms: spent,
        ttft_stream_ms: spent,
        time_to_request_ms: 0,
        first_content_frame_ms: spent,
      };
    case "api-error":
      return {
        subtype: "success",
        api_error_status: outcome.failure.status,
        ...(outcome.failure.status === null
          ? { api_error: outcome.failure.type }
          : { api_error_type: outcome.failure.type }),
        result: outcome.failure.text,
      };
    case "failed":
      return { subtype: "error_during_execution", errors: [outcome.text] };
    case "budget":
      return { subtype: "error_max_budget_usd", errors: [`Reached maximum budget ($${outcome.limitUsd})`] };
    case "session-lost":
      return { subtype: "error_during_execution", errors: [unknownSession(outcome.session)] };
    case "interrupted":
      return { subtype: "error_during_execution", errors: [`interrupted, stop_reason=${stopReason(outcome)}`] };
  }
}

function stopReason(outcome: Outcome): string | null {
  switch (outcome.kind) {
    case "success":
    case "failed":
      return "end_turn";
    case "budget":
      return "tool_use";
    case "session-lost":
      return null;
    case "api-error":
      return outcome.failure.stopReason ?? "stop_sequence";
    case "interrupted":
      return outcome.duringTool ? "tool_use" : null;
  }
}

function terminalReason(outcome: Outcome): string {
  switch (outcome.kind) {
    case "success":
      return "completed";
    case "failed":
      return "error";
    case "budget":
      return "budget_exhausted";
    case "session-lost":
      return "turn_setup_failed";
    case "api-error":
      return outcome.failure.terminalReason ?? "api_error";
    case "interrupted":
      return outcome.duringTool ? "aborted_tools" : "aborted_streaming";
  }
}

const noSubagents = {
  spawned: 0,
  requested: { background: 0, foreground: 0, unset: 0 },
  started_in_background: 0,
  max_depth: 0,
  spawned_by_subagents: 0,
  completed: 0,
  failed: 0,
  killed: { parent: 0, user: 0, system: 0 },
  refused: { depth_limit: 0, concurrency_limit: 0, budget: 0 },
  by_type: {},
};
