import type { Spending } from "../cost/spending.ts";
import { countIn, nameOf, taskIn, textIn, textOf, timeIn, timeOf, unreadable } from "./columns.ts";
import type { EarlierValues } from "./earlier-project.ts";

export interface SpendingTerms {
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly runtime: string;
}

/** What a session used, as the earlier version added it up at its end. */
export function spendingOf(values: EarlierValues, terms: SpendingTerms): Spending {
  const startedAt = timeOf(values, "started_at");
  const endedAt = timeIn(values, "completed_at") ?? endOf(startedAt, values);
  const agentName = nameOf(values, "agent_name");
  const taskId = taskIn(values);
  const capability = textOf(values, "capability");
  const source = `import:${agentName}:${taskId ?? ""}`;
  return { ...counted(values, terms), source, agentName, capability, taskId, startedAt, endedAt };
}

/** The same for a session that never ended, from the newest of its counts, which grow. */
export function snapshotSpendingOf(
  values: EarlierValues,
  terms: SpendingTerms & { readonly capability: string; readonly taskId: string | null; readonly startedAt: number },
): Spending {
  const { capability, taskId, startedAt } = terms;
  const agentName = nameOf(values, "agent_name");
  const endedAt = Math.max(startedAt, timeOf(values, "created_at"));
  const source = `import:${agentName}:live`;
  return { ...counted(values, terms), source, agentName, capability, taskId, startedAt, endedAt };
}

/** The end of a session of which only the duration is known. */
function endOf(startedAt: number, values: EarlierValues): number {
  const at = startedAt + countIn(values, "duration_ms");
  return Number.isNaN(new Date(at).getTime()) ? unreadable("has no duration as duration_ms") : at;
}

function counted(values: EarlierValues, { agentId, runId, runtime }: SpendingTerms) {
  const used = usedIn(values);
  const { input, output, cacheRead, cacheWrite, costMicros } = used;
  return {
    part: 0,
    model: textIn(values, "model_used"),
    agentId,
    runtime,
    runId,
    told: input + output + cacheRead + cacheWrite > 0,
    ...used,
    costSource: costMicros === null ? "unknown" : "prices",
    priceVersion: costMicros === null ? null : "overstory-0.11",
  } as const;
}

/** The tokens and the cost of a row. */
export const usedIn = (values: EarlierValues) => ({
  input: countIn(values, "input_tokens"),
  output: countIn(values, "output_tokens"),
  cacheRead: countIn(values, "cache_read_tokens"),
  cacheWrite: countIn(values, "cache_creation_tokens"),
  costMicros: costIn(values),
});

function costIn(values: EarlierValues): number | null {
  const usd = values.estimated_cost_usd ?? null;
  if (usd === null) return null;
  const micros = typeof usd === "number" ? Math.round(usd * 1_000_000) : Number.NaN;
  return micros >= 0 && micros <= mostMicros ? micros : unreadable("has no amount as estimated_cost_usd");
}

/** A billion dollars. Sums of the imported amounts must stay exact, and larger numbers lose digits. */
const mostMicros = 1e15;
