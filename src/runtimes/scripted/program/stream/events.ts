import type { Tokens } from "./tokens.ts";

/** The version whose stream is imitated. */
export const imitatedVersion = "2.1.325";

export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

export interface McpServer {
  readonly name: string;
  readonly status: "connected" | "failed";
  readonly source: "dynamic";
}

/** First event of every turn. */
export function initEvent(facts: {
  readonly session: string;
  readonly cwd: string;
  readonly model: string;
  readonly permissionMode: string;
  readonly mcpServers: readonly McpServer[];
}) {
  return {
    type: "system",
    subtype: "init",
    cwd: facts.cwd,
    session_id: facts.session,
    tools: ["Bash", "Edit", "Read", "Write"],
    mcp_servers: facts.mcpServers,
    model: facts.model,
    permissionMode: facts.permissionMode,
    slash_commands: [],
    terminal_slash_commands: [],
    apiKeySource: "none",
    claude_code_version: imitatedVersion,
    output_style: "default",
    agents: [],
    skills: [],
    plugins: [],
    capabilities: [],
    analytics_disabled: true,
    product_feedback_disabled: true,
    uuid: crypto.randomUUID(),
    memory_paths: {},
    original_cwd: facts.cwd,
    additional_directories: [],
    messaging_socket_path: "",
    fast_mode_state: "off",
    fast_mode_disabled_reason: "sdk_opt_in_required",
    per_turn_effort_active: true,
    ultrathink_available: false,
    ultrathink_typed_raises: false,
    view_mode: "default",
  };
}

/** One content block of a model reply. As in the real stream, `output_tokens` is the value of the message's start. */
export function assistantEvent(facts: {
  readonly session: string;
  readonly reply: string;
  readonly model: string;
  readonly block: Block;
  readonly tokens: Tokens;
}) {
  const { session, reply, model, block, tokens } = facts;
  return {
    type: "assistant",
    message: {
      id: `msg_${reply}`,
      type: "message",
      role: "assistant",
      model,
      content: [block],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: tokens.input,
        cache_creation_input_tokens: tokens.cacheWrite,
        cache_read_input_tokens: tokens.cacheRead,
        output_tokens: 1,
      },
      context_management: null,
    },
    parent_tool_use_id: null,
    session_id: session,
    uuid: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
    request_id: `req_${reply}`,
    ...(block.type === "thinking" ? { thinking_duration_ms: 1, thinking_display: "updates" } : {}),
  };
}

/** Why a model call failed, in the three forms the stream uses. */
export interface ApiFailure {
  /** Null when no answer came at all. */
  readonly status: number | null;
  readonly error: string;
  readonly type: string;
  readonly text: string;
  /** Other words of the result than those of a failed call. */
  readonly terminalReason?: string;
  readonly stopReason?: string;
}

/** What stands in the place of a reply when the model could not be reached. */
export function syntheticAssistantEvent(session: string, failure: ApiFailure) {
  return {
    type: "assistant",
    message: {
      diagnostics: null,
      id: crypto.randomUUID(),
      container: null,
      model: "<synthetic>",
      role: "assistant",
      stop_details: null,
      stop_reason: failure.stopReason ?? "stop_sequence",
      stop_sequence: "",
      type: "message",
      usage: {
        output_tokens_details: null,
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
        service_tier: null,
        cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
        inference_geo: null,
        iterations: null,
        speed: null,
        fallback_credit: null,
      },
      content: [{ type: "text", text: failure.text }],
      context_management: null,
    },
    parent_tool_use_id: null,
    session_id: session,
    uuid: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
    error: failure.error,
    is_api_error_message: true,
    api_error_status: failure.status,
    api_error_type: failure.type,
  };
}

export interface ToolAnswer {
  readonly content: string;
  readonly isError: boolean;
  /** The structured form beside the text; tools that fail have only the text. */
  readonly structured: unknown;
}

export function toolResultEvent(session: string, call: string, answer: ToolAnswer) {
  return {
    ...userEvent(session, [
      { tool_use_id: call, type: "tool_result", content: answer.content, is_error: answer.isError },
    ]),
    tool_use_result: answer.isError ? `Error: ${answer.content}` : answer.structured,
    tool_result_meta: [
      { id: call, permission_decision: { decision: "accept", source: "config", reason_type: "mode" } },
    ],
  };
}

/** The result of a call that the user cut short. */
export function rejectedToolEvent(session: string, call: string) {
  const content = "The call was rejected by the user and did not finish. Stop and wait for the user.";
  return {
    ...userEvent(session, [{ type: "tool_result", content, is_error: true, tool_use_id: call }]),
    tool_use_result: "User rejected tool use",
    tool_result_meta: [{ id: call, non_execution_kind: "user-rejected" }],
  };
}

export function userEvent(session: string, content: readonly object[]) {
  return {
    type: "user",
    message: { role: "user", content },
    parent_tool_use_id: null,
    session_id: session,
    uuid: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
  };
}

export function apiRetryEvent(facts: {
  readonly session: string;
  readonly attempt: number;
  readonly retries: number;
  readonly delayMs: number;
  readonly failure: ApiFailure;
}) {
  return {
    type: "system",
    subtype: "api_retry",
    attempt: facts.attempt,
    max_retries: facts.retries,
    retry_delay_ms: facts.delayMs,
    error_status: facts.failure.status,
    error: facts.failure.error,
    session_id: facts.session,
    uuid: crypto.randomUUID(),
  };
}

/** The model ended its answer by refusing. */
export function refusalEvent(session: string) {
  return {
    type: "system",
    subtype: "model_refusal_no_fallback",
    original_model: "scripted-model",
    request_id: null,
    api_refusal_category: null,
    api_refusal_explanation: null,
    content: "",
    uuid: crypto.randomUUID(),
    session_id: session,
  };
}

/** Says when a limit ends. `resetsAt` is in seconds, with a fraction so that short limits can be scripted. */
export function rateLimitEvent(session: string, resetsAtMs: number) {
  return {
    type: "rate_limit_event",
    rate_limit_info: { status: "rejected", resetsAt: resetsAtMs / 1000, rateLimitType: "five_hour" },
    uuid: crypto.randomUUID(),
    session_id: session,
  };
}

/** A message of the user, repeated when the model gets it. */
export function replayedEvent(
  session: string,
  { id, text }: { readonly id: string | undefined; readonly text: string },
) {
  return {
    type: "user",
    message: { role: "user", content: [{ type: "text", text }] },
    session_id: session,
    parent_tool_use_id: null,
    uuid: id ?? crypto.randomUUID(),
    isReplay: true,
  };
}

export function controlResponse(request: string, answer: { readonly error: string } | { readonly value: object }) {
  return {
    type: "control_response",
    response:
      "error" in answer
        ? { subtype: "error", request_id: request, error: answer.error }
        : { subtype: "success", request_id: request, response: answer.value },
  };
}
