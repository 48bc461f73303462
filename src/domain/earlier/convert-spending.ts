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
  const endedAt = timeIn(values, "completed_at") ?? startedAt + countIn(values, "duration_ms");
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

function counted(values: EarlierValues, { agentId, runId, runtime }: SpendingTerms) {
  const costUsd = values.estimated_cost_usd ?? null;
  if (costUsd !== null && (typeof costUsd !== "number" || !(costUsd >= 0))) {
    return unreadable("has no amount as estimated_cost_usd");
  }
  const input = countIn(values, "input_tokens");
  const output = countIn(values, "output_tokens");
  const cacheRead = countIn(values, "cache_read_tokens");
  const cacheWrite = countIn(values, "cache_creation_tokens");
  return {
    part: 0,
    model: textIn(values, "model_used"),
    agentId,
    runtime,
    runId,
    told: input + output + cacheRead + cacheWrite > 0,
    input,
    output,
    cacheRead,
    cacheWrite,
    costMicros: costUsd === null ? null : Math.round(costUsd * 1_000_000),
    costSource: costUsd === null ? "unknown" : "prices",
    priceVersion: costUsd === null ? null : "overstory-0.11",
  } as const;
}
