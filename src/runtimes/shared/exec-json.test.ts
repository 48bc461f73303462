import { describe, expect, test } from "bun:test";
import type { FailureCause } from "../../domain/turn/failure.ts";
import { causeOf } from "./exec-json.ts";

/** Sentences as providers and their programs write them. */
const sentences: Readonly<Partial<Record<FailureCause, readonly string[]>>> = {
  rate_limit: [
    "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29500, Requested 4000. Please try again in 7s. You can increase your rate limit by adding a payment method at https://platform.openai.com/account/billing.",
    "You've hit your usage limit. Visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again at 3:14 PM.",
    "You've hit your usage limit. Upgrade to Pro, or try again in 2 days 3 hours.",
    "429 Too Many Requests",
    "429 rate_limit_error: This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    "ThrottlingException: Too many tokens, please wait before trying again.",
    "unexpected status 429 Too Many Requests: slow down",
  ],
  credit: [
    "429 You exceeded your current quota, please check your plan and billing details.",
    "insufficient_quota",
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
    "402 Insufficient credits. Add more using https://openrouter.ai/settings/credits",
    "quota_exceeded 402 You have no quota",
  ],
  context_full: [
    "400 This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "400 prompt is too long: 210000 tokens > 200000 maximum",
    "400 input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Input is too long for requested model.",
  ],
  login: [
    "401 Unauthorized",
    "unexpected status 401 Unauthorized: key 4711 is unknown",
    "Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/account/api-keys.",
    "OAuth token has expired. Please obtain a new token.",
    "403 Forbidden",
    "API key not valid. Please pass a valid API key.",
    "Your session has expired. Please log in.",
  ],
  model: [
    "The model `gpt-9` does not exist or you do not have access to it.",
    "404 model: claude-x",
    "Model not found: a/b",
    "Unknown model: x",
  ],
  overloaded: ["529 Overloaded", "overloaded_error: Overloaded"],
  server_error: [
    "500 Internal Server Error",
    "HTTP 503",
    "unexpected status 502 Bad Gateway",
    "This model is currently experiencing high demand.",
  ],
  network: [
    "stream disconnected before completion",
    "connect ECONNREFUSED 127.0.0.1:443: connection refused",
    "request timed out",
    "error sending request for url (https://api.example/v1/responses)",
  ],
  refusal: ["400 Your request was flagged by our content policy.", "The model refused to answer."],
  rejected: [
    "400 max_tokens must be at most 512",
    "400 tools.3.name: String should match pattern; connection to schema lost",
    "invalid_request_error: messages: text content blocks must be non-empty",
  ],
  unknown: ["it exited with 1 before the model had answered", ""],
};

describe.each(Object.entries(sentences))("%s", (cause, said) => {
  test.each(said.map((one) => [one]))("%p", (one) => {
    expect(causeOf(one)).toBe(cause as FailureCause);
  });
});
