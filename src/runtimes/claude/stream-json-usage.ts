import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import { type Fields, fields, number, text } from "../shared/json-fields.ts";

type UsageEvent = Extract<TurnEvent, { readonly kind: "usage" }>;
type Counts = Pick<UsageEvent, "input" | "output" | "cacheRead" | "cacheWrite">;

/** Keeps a turn's account while its lines are read. */
export interface UsageAccount {
  /** A message's usage, the first time one of its blocks brings it. */
  ofMessage(message: Fields | undefined): UsageEvent[];
  /** What the end of a turn knows beyond that, and begins the next account. */
  ofResult(result: Fields): UsageEvent[];
  /** What was spent since the beginning, or since the last result. */
  costOf(result: Fields): number | null;
}

/**
 * Messages carry the numbers of their beginning, with next to no output, and some calls are not shown at all; only the
 * end of a turn has the whole. So its surplus is reported as one more message: the sum is right at the end, and while
 * the turn runs, or when it never ends, what was seen so far still counts.
 */
export function usageAccount(): UsageAccount {
  const seen = new Set<string>();
  let reported = new Map<string, Counts>();
  let lastModel: string | null = null;
  let told = 0;
  const add = (event: UsageEvent): UsageEvent => {
    const model = event.model ?? "";
    reported.set(
      model,
      combine(reported.get(model) ?? none, event, (a, b) => a + b),
    );
    return event;
  };
  return {
    ofMessage: (message) => {
      const id = text(message?.id);
      const usage = fields(message?.usage);
      const model = text(message?.model) ?? null;
      if (id === undefined || usage === undefined || model === "<synthetic>" || seen.has(id)) return [];
      seen.add(id);
      lastModel = model;
      return [add({ kind: "usage", messageId: id, model, ...apiCounts(usage) })];
    },
    ofResult: (result) => {
      const id = text(result.uuid) ?? text(result.session_id) ?? "";
      const surplus = wholeOf(result, lastModel).flatMap(([model, whole]): UsageEvent[] => {
        const counts = combine(whole, reported.get(model) ?? none, (a, b) => Math.max(0, a - b));
        if (Object.values(counts).every((count) => count === 0)) return [];
        return [{ kind: "usage", messageId: `rest:${id}:${model}`, model: model === "" ? null : model, ...counts }];
      });
      reported = new Map();
      return surplus;
    },
    costOf: (result) => {
      const since = sharesOf(result);
      if (since !== undefined) return since;
      const total = number(result.total_cost_usd);
      if (total === undefined) return null;
      const cost = Math.max(0, total - told);
      told = total;
      return cost;
    },
  };
}

/**
 * What each model cost since the last result. Since some version the total goes on counting when a conversation is
 * resumed, and this is told beside it; before, the total was that of the process.
 */
function sharesOf(result: Fields): number | undefined {
  const since = fields(result.model_usage_since_last_result);
  if (since === undefined) return undefined;
  return Object.values(since).reduce((sum: number, share) => sum + (number(fields(share)?.costUSD) ?? 0), 0);
}

/** The counts of this turn by model. A version that has no shares by model has a sum, which is the turn's own. */
function wholeOf(result: Fields, lastModel: string | null): readonly (readonly [string, Counts])[] {
  const since = fields(result.model_usage_since_last_result);
  if (since !== undefined) {
    return Object.entries(since).map(([name, share]) => {
      const of = fields(share) ?? {};
      return [text(of.canonicalModel) ?? name, shareCounts(of)] as const;
    });
  }
  const usage = fields(result.usage);
  return usage === undefined ? [] : [[lastModel ?? "", apiCounts(usage)]];
}

const apiCounts = (usage: Fields): Counts => ({
  input: number(usage.input_tokens) ?? 0,
  output: number(usage.output_tokens) ?? 0,
  cacheRead: number(usage.cache_read_input_tokens) ?? 0,
  cacheWrite: number(usage.cache_creation_input_tokens) ?? 0,
});

const shareCounts = (share: Fields): Counts => ({
  input: number(share.inputTokens) ?? 0,
  output: number(share.outputTokens) ?? 0,
  cacheRead: number(share.cacheReadInputTokens) ?? 0,
  cacheWrite: number(share.cacheCreationInputTokens) ?? 0,
});

const none: Counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const combine = (a: Counts, b: Counts, how: (a: number, b: number) => number): Counts => ({
  input: how(a.input, b.input),
  output: how(a.output, b.output),
  cacheRead: how(a.cacheRead, b.cacheRead),
  cacheWrite: how(a.cacheWrite, b.cacheWrite),
});
