import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, oneOf, type SchemaOf, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";

/** The agents that lead a run of their own, by the command that starts them. */
export const headCapabilities = ["coordinator", "orchestrator"] as const;
export type HeadCapability = (typeof headCapabilities)[number];

export interface HeadQuestion {
  readonly capability: HeadCapability;
  /** Without a name: the caller itself, the agent named like its capability, or the only live one. */
  readonly name?: string | undefined;
}

export const headQuestion: SchemaOf<HeadQuestion> = fields({ capability: oneOf(headCapabilities) }, { name: text });

/** Which one is meant, as long as it lives. */
export const findCoordinatorCommand: UseCase<
  HeadQuestion,
  { readonly agentName: string; readonly agentId: string; readonly runId: string }
> = {
  kind: "read",
  request: headQuestion,
  run: async (tx, { caller }, question) => {
    const found = await findHead(tx, caller, question);
    if (!found.ok) return found;
    const { name, id, runId } = found.value;
    if (!hasEnded(found.value)) return ok({ agentName: name, agentId: id, runId });
    const start = `ov ${question.capability} start${name === question.capability ? "" : ` --name ${name}`}`;
    return no(invalid("name", `has ended, so nobody would answer; start it again: ${start}`, { value: name }));
  },
};

/** Which one is meant: its live incarnation, else its latest. */
export async function findHead(
  tx: Tx,
  caller: Caller,
  { capability, name }: HeadQuestion,
): Promise<Result<Agent, Refusal>> {
  const typed = name?.trim().toLowerCase();
  if (typed !== undefined && typed !== "") return namedHead(tx, capability, typed);
  if (caller.kind === "agent" && caller.capability === capability) return namedHead(tx, capability, caller.name);
  return headOf(tx, capability);
}

/** The coordinator or orchestrator that a command without `--name` takes. */
async function headOf(tx: Tx, capability: HeadCapability): Promise<Result<Agent, Refusal>> {
  const live = await liveHeads(tx, capability);
  const usual = live.find((agent) => agent.name === capability);
  if (usual !== undefined) return ok(usual);
  const [only, ...others] = live;
  if (only === undefined) return namedHead(tx, capability, capability);
  if (others.length === 0) return ok(only);
  const allowed = live.map((agent) => `--name ${agent.name}`);
  return no(invalid("name", `must say which ${capability} is meant: several are there`, { allowed }));
}

/** The flag by which a command for the operator names this agent; empty where the command takes it by itself. */
export async function headFlag(tx: Tx, { id, name, capability }: Agent): Promise<string> {
  const head = headCapabilities.find((known) => known === capability);
  const taken = head === undefined ? undefined : await headOf(tx, head);
  return taken?.ok === true && taken.value.id === id ? "" : ` --name ${name}`;
}

/** Those that live, oldest first. */
export async function liveHeads(tx: Tx, capability: HeadCapability): Promise<readonly Agent[]> {
  const live = await tx.agents.list({ live: true });
  return live.filter((agent) => agent.capability === capability).toSorted((a, b) => a.startedAt - b.startedAt);
}

async function namedHead(tx: Tx, capability: HeadCapability, name: string): Promise<Result<Agent, Refusal>> {
  const agent = await tx.agents.byName(name);
  if (agent?.capability === capability) return ok(agent);
  const known = newestPerName(await tx.agents.list({})).filter((other) => other.capability === capability);
  const names = known.map((other) => other.name);
  return no(notFound("agent", name, nearest(name, names)));
}
