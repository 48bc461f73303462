import type { Agent } from "../../domain/agent/agent.ts";
import { type Caller, operator } from "../../domain/caller/caller.ts";
import {
  type Mark,
  markOf,
  orchestratorMark,
  type ProcessIdentity,
  type ProcessRecord,
} from "../../domain/process/process.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";

/** The caller is this very process. */
export interface ProcessSight {
  readonly kind: "process";
  /** The limit of file locks of the process. A process with a mark runs inside an agent, of this or another project. */
  mark(): Mark | undefined;
  /** The ancestors of the process, nearest first. */
  ancestors(): readonly ProcessIdentity[];
}

/** Facts about a caller apart from its token. */
export type CallerSight =
  | ProcessSight
  /** It is at the other end of a connection. `process`: what can be seen of it there, where the system tells. */
  | { readonly kind: "connection"; readonly takesTokens: boolean; readonly process?: ProcessSight }
  /** A person who logged in at the address that the engine serves browsers at, or the engine on its own behalf there. */
  | { readonly kind: "login" }
  /** An orchestrator of another project, proven there: the hand of the operator, who sent it. */
  | { readonly kind: "sent"; readonly process: ProcessSight };

export interface Shown {
  /** The value that the caller sent. Only a text that we gave out names a caller. */
  readonly token: unknown;
  readonly sight: CallerSight;
  /** Also compares the ancestors of the process with known agents, which costs a look at each of them. */
  readonly thoroughly: boolean;
  /** For the refusal. */
  readonly action: string;
}

/**
 * Identifies the caller. The only place that decides it, for commands, for the engine's socket and for tools over HTTP.
 * A token names exactly one incarnation, and counts in the processes of the turn it was given to: those that carry its
 * mark and do not descend from another agent. A token that is empty, malformed, unknown, revoked or of an ended turn
 * names no caller. Without a token only a process outside of all agents is the operator.
 */
export async function identify(tx: Tx, ids: Ids, shown: Shown): Promise<Result<Caller, Refusal>> {
  const { token, sight, action } = shown;
  if (sight.kind === "login") return ok(operator);
  if (sight.kind === "sent") {
    // An agent of this project counts as that agent, even if another project says that it is the orchestrator there.
    const isOurs = await isKnownHere(tx, ids, token, sight.process);
    return isOurs ? identify(tx, ids, { ...shown, sight: sight.process }) : ok(operator);
  }
  if (token !== undefined && token !== null) return holderOf(tx, ids, sight, shown);
  if (sight.kind === "connection") return no({ kind: "unknown-token" });
  if (sight.mark() === undefined && !shown.thoroughly) return ok(operator);
  const agent = await agentAround(tx, ids, sight);
  if (agent === undefined) return ok(operator);
  const why =
    agent === unknownAgent
      ? "it has a limit of file locks (see /proc/self/limits), by which agents are known, and shows no token"
      : "it runs inside an agent's process without that agent's token";
  return no({ kind: "not-allowed", action, caller: agent, why });
}

/** The mark of an agent's processes in this turn, or in the session that a person opened for it. */
export function markFor(ids: Ids, agent: Pick<Agent, "id" | "depth" | "capability">, turnId: string | null): Mark {
  const digest = ids.digest(turnId ?? agent.id);
  return agent.capability === "orchestrator" ? orchestratorMark(digest) : markOf(digest, agent.depth);
}

async function isKnownHere(tx: Tx, ids: Ids, token: unknown, sight: ProcessSight): Promise<boolean> {
  if (typeof token === "string" && (await tx.tokens.get(ids.digest(token))) !== undefined) return true;
  const agent = await agentAround(tx, ids, sight);
  return agent !== undefined && agent !== unknownAgent;
}

async function holderOf(
  tx: Tx,
  ids: Ids,
  sight: Exclude<CallerSight, { kind: "sent" | "login" }>,
  { token, thoroughly }: Pick<Shown, "token" | "thoroughly">,
): Promise<Result<Caller, Refusal>> {
  if (typeof token !== "string" || token === "") return no({ kind: "unknown-token" });
  const known = await tx.tokens.get(ids.digest(token));
  if (known === undefined || known.revokedAt !== null) return no({ kind: "unknown-token" });
  const agent = await tx.agents.get(known.agentId);
  if (agent === undefined) return no({ kind: "unknown-token" });
  const elsewhere = no({ kind: "token-elsewhere", over: sight.kind } as const);
  if (sight.kind === "connection" && !sight.takesTokens) return elsewhere;
  const process = sight.kind === "connection" ? sight.process : sight;
  if (process !== undefined && process.mark() !== markFor(ids, agent, known.turnId)) return elsewhere;
  // An agent can lower its limit to the number of an agent below it, but it cannot choose its ancestors.
  if (process !== undefined && (thoroughly || sight.kind === "connection")) {
    const above = await agentProcessesAmong(tx, process.ancestors());
    if (above.some(({ agentId }) => agentId !== agent.id)) return elsewhere;
    // A confined process always descends from its agent's.
    if (sight.kind === "connection" && above.length === 0) return elsewhere;
  }
  return ok({
    kind: "agent",
    name: agent.name,
    agentId: agent.id,
    capability: agent.capability,
    runId: agent.runId,
    taskId: agent.taskId,
    turnId: known.turnId,
  });
}

/**
 * The agent inside of which a caller runs, found by its parent processes and by its mark. Its token does not count
 * here.
 */
export async function agentAround(tx: Tx, ids: Ids, sight: CallerSight): Promise<string | undefined> {
  if (sight.kind !== "process") return undefined;
  return (await agentAbove(tx, sight.ancestors())) ?? agentMarked(tx, ids, sight.mark());
}

async function agentAbove(tx: Tx, ancestors: readonly ProcessIdentity[]): Promise<string | undefined> {
  const [above] = await agentProcessesAmong(tx, ancestors);
  if (above === undefined) return undefined;
  const agent = above.agentId === null ? undefined : await tx.agents.get(above.agentId);
  return agent?.name ?? "a gate command";
}

/** The recorded processes of agents and gates among these. */
async function agentProcessesAmong(tx: Tx, found: readonly ProcessIdentity[]): Promise<readonly ProcessRecord[]> {
  if (found.length === 0) return [];
  const recorded = await tx.processes.withPids(found.map((process) => process.pid));
  return recorded.filter(
    (record) =>
      (record.role === "agent" || record.role === "gate") &&
      found.some(
        (process) =>
          process.pid === record.pid && process.startToken === record.startToken && process.bootId === record.bootId,
      ),
  );
}

const unknownAgent = "this process";

/** The agent with this mark, as far as this project knows it. Only processes of agents have a limit at all. */
async function agentMarked(tx: Tx, ids: Ids, mark: Mark | undefined): Promise<string | undefined> {
  if (mark === undefined) return undefined;
  for (const turn of await tx.turns.running()) {
    const agent = await tx.agents.get(turn.agentId);
    if (agent !== undefined && markFor(ids, agent, turn.id) === mark) return agent.name;
  }
  return unknownAgent;
}
