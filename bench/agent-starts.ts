import { Database } from "bun:sqlite";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";

/** When the process of an agent's newest turn was put on record; its gate opens right after. Undefined when none was. */
export interface AgentStarts extends Disposable {
  recorded(agentName: string): { readonly at: number; readonly turnId: string } | undefined;
  /** How many agents have had a process. */
  count(): number;
}

export function agentStarts(project: TestProject): AgentStarts {
  const db = new Database(statePath(project.root, "overstory.db"), { readonly: true });
  const newest = db.query<{ at: number; turnId: string }, [string]>(
    `SELECT p.started_at AS at, p.turn_id AS turnId FROM processes p JOIN agents a ON a.id = p.agent_id
     WHERE p.role = 'agent' AND a.name = ? ORDER BY p.started_at DESC LIMIT 1`,
  );
  const count = db.query<{ n: number }, []>("SELECT COUNT(DISTINCT agent_id) AS n FROM processes WHERE role = 'agent'");
  return {
    recorded: (agentName) => newest.get(agentName) ?? undefined,
    count: () => count.get()?.n ?? 0,
    [Symbol.dispose]: () => db.close(),
  };
}

/** When the agent's own program said its first word in its newest process, by its own clock. */
export function firstWordAt({ state }: TestProject, agentName: string): number {
  const path = join(state, agentName, "starts.ndjson");
  if (!existsSync(path)) return Number.NaN;
  const line = readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "";
  const { at }: { at: string } = JSON.parse(line);
  return Date.parse(at);
}
