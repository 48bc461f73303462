import { noTokens, type TokenCounts } from "../../../domain/budget/usage.ts";
import type { TurnEvent } from "../../../domain/turn/turn-event.ts";
import { type Fields, fields, list, number, text } from "../json-fields.ts";

type UsageEvent = Extract<TurnEvent, { readonly kind: "usage" }>;

/** The tokens of a turn by the answers to its prompts. `process`: the program tells the sum since it was started. */
export function usageAccount(
  scope: "prompt" | "process" | "none",
): (prompt: number, answer: Fields) => readonly UsageEvent[] {
  if (scope === "none") return () => [];
  let told = noTokens;
  return (prompt, answer) => {
    const byModel = quotaOf(answer, prompt);
    if (byModel.length > 0) return byModel;
    const usage = fields(answer.usage);
    if (usage === undefined) return [];
    const all = countsOf(usage);
    const counts = scope === "prompt" ? all : difference(all, told);
    told = all;
    return isNothing(counts) ? [] : [{ kind: "usage", messageId: `prompt:${prompt}`, model: null, ...counts }];
  };
}

/** Gemini tells the tokens of each model that it asked for this prompt; those of the cache are among the input. */
const quotaOf = (answer: Fields, prompt: number): readonly UsageEvent[] =>
  list(fields(fields(answer._meta)?.quota)?.model_usage).flatMap((one): UsageEvent[] => {
    const { model, token_count } = fields(one) ?? {};
    const counts = fields(token_count);
    const [input, output] = [number(counts?.input_tokens) ?? 0, number(counts?.output_tokens) ?? 0];
    if (input + output === 0) return [];
    const name = text(model) ?? null;
    return [
      { kind: "usage", messageId: `prompt:${prompt}:${name}`, model: name, input, output, cacheRead: 0, cacheWrite: 0 },
    ];
  });

/** Whether tokens of the cache are among the input differs by program; the total tells. */
function countsOf(usage: Fields): TokenCounts {
  const count = (name: string): number => number(usage[name]) ?? 0;
  const [cacheRead, cacheWrite] = [count("cachedReadTokens"), count("cachedWriteTokens")];
  const [input, said, thought] = [count("inputTokens"), count("outputTokens"), count("thoughtTokens")];
  const total = number(usage.totalTokens);
  const output = total !== undefined && total < input + said + thought ? said : said + thought;
  const isInside = total !== undefined && total < input + output + cacheRead + cacheWrite;
  return { input: Math.max(0, input - (isInside ? cacheRead + cacheWrite : 0)), output, cacheRead, cacheWrite };
}

const difference = (all: TokenCounts, before: TokenCounts): TokenCounts => ({
  input: Math.max(0, all.input - before.input),
  output: Math.max(0, all.output - before.output),
  cacheRead: Math.max(0, all.cacheRead - before.cacheRead),
  cacheWrite: Math.max(0, all.cacheWrite - before.cacheWrite),
});

const isNothing = (counts: TokenCounts): boolean => Object.values(counts).every((count) => count === 0);
