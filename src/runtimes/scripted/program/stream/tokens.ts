/** What the pretended model reports for one reply; the default is that of the recorded streams. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const tokensPerReply: Tokens = { input: 100, output: 42, cacheRead: 30, cacheWrite: 20 };
export const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function addTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

/** List prices in tenths of a millionth of a dollar, chosen so that the recorded costs come out exactly. */
export function costInUsd({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return (input * 40 + output * 200 + cacheRead * 2 + cacheWrite * 50) / 10_000_000;
}

/** The `usage` of a result. */
export function usageOf(tokens: Tokens) {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_read_input_tokens: tokens.cacheRead,
    output_tokens: tokens.output,
    output_tokens_details: { thinking_tokens: 0 },
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: "standard",
    cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
    inference_geo: "",
    iterations: [],
    speed: "standard",
    fallback_credit: null,
  };
}

/** The `modelUsage` of a result: one entry per model that was used at all. */
export function modelUsageOf(byModel: Readonly<Record<string, Tokens>>) {
  return Object.fromEntries(
    Object.entries(byModel).map(([model, tokens]) => [
      model,
      {
        inputTokens: tokens.input,
        outputTokens: tokens.output,
        cacheReadInputTokens: tokens.cacheRead,
        cacheCreationInputTokens: tokens.cacheWrite,
        webSearchRequests: 0,
        costUSD: costInUsd(tokens),
        contextWindow: 1_000_000,
        maxOutputTokens: 128_000,
        thinkingTokens: 0,
        cacheCreationEphemeral5mInputTokens: 0,
        cacheCreationEphemeral1hInputTokens: 0,
        canonicalModel: model,
        provider: "firstParty",
        costBasis: "list",
      },
    ]),
  );
}
