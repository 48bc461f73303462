import type { Refusal } from "../../../../domain/refusal.ts";
import type { Result } from "../../../../domain/result.ts";
import type { AgentHealth, HealthReport } from "../../../../usecases/health/assess-health.ts";
import { newsOf } from "./render.ts";

export interface Following {
  /** One look at all agents, ended ones included. */
  look(): Promise<Result<HealthReport, Refusal>>;
  tell(health: AgentHealth, now: number): void;
  /** Resolves after the interval, or when the watch is over. */
  rest(): Promise<void>;
  isOver(): boolean;
}

/** Tells about every agent once, and then about every change, until it is over. Ends early when looking is refused. */
export async function follow({ look, tell, rest, isOver }: Following): Promise<Result<void, Refusal>> {
  const told = new Map<string, string>();
  while (!isOver()) {
    const report = await look();
    if (!report.ok) return report;
    for (const health of report.value.agents) {
      const { name } = health.agent;
      // Who ended before we began to watch is history.
      if (health.assessment.status === "ended" && !told.has(name)) continue;
      const news = newsOf(health);
      if (told.get(name) === news) continue;
      told.set(name, news);
      tell(health, report.value.now);
    }
    await rest();
  }
  return { ok: true, value: undefined };
}
