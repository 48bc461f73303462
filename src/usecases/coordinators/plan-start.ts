import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Capability } from "../../domain/agent/capability.ts";
import type { ChosenModel } from "../../domain/agent/model.ts";
import { statusOf } from "../../domain/agent/status.ts";
import { agentName, isReserved } from "../../domain/name/name.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { decimal, fields, flag, record, type SchemaOf, text } from "../../domain/schema/schema.ts";
import type { RuntimeChoice } from "../../ports/settings.ts";
import type { Tx } from "../../ports/store.ts";
import { chooseRuntime, modelFor } from "../agents/choose-runtime.ts";
import { release } from "../agents/release-agent.ts";
import { type PreparedSeat, preparedFields } from "../agents/sling-request.ts";
import { refusedTarget } from "../merge/landing/landing-target.ts";
import type { Context, UseCase } from "../usecase.ts";
import { isOver, retireIfOver } from "./retire.ts";

/** The request to start an agent that leads a run. */
export interface StartRequest extends PreparedSeat {
  /** Also `monitor`, which joins a run and has none of its own. */
  readonly capability: string;
  /** Default: its capability. */
  readonly name?: string | undefined;
  readonly objective?: string | undefined;
  /** Nothing is built for the objective, so that no landed tree can show it: the run has no checklist. For the operator. */
  readonly nothingLands?: boolean | undefined;
  /** More about how to go about it. */
  readonly brief?: string | undefined;
  /** Where the work is meant to go; the caller has made sure that it exists. */
  readonly targetBranch?: string | undefined;
  readonly runtime?: string | undefined;
  readonly model?: string | undefined;
  readonly profile?: string | undefined;
  /** The run it joins, instead of beginning one. */
  readonly runId?: string | undefined;
  /** US dollars that the new run may cost; replaces the configured limit. Only for the operator. */
  readonly budgetUsd?: number | undefined;
  /** The caller's allow-listed variables. */
  readonly environment: Readonly<Record<string, string>>;
}

export const startFields: SchemaOf<StartRequest> = fields(
  { capability: text, environment: record(text) },
  {
    name: text,
    objective: text,
    nothingLands: flag,
    brief: text,
    targetBranch: text,
    runtime: text,
    model: text,
    profile: text,
    runId: text,
    budgetUsd: decimal,
    ...preparedFields,
  },
);

export interface StartReply {
  readonly agentName: string;
  readonly agentId: string;
  readonly generation: number;
  readonly capability: Capability;
  readonly runId: string;
  readonly runtime: string;
  readonly objective: string | null;
  readonly targetBranch: string | null;
  /** What the operator should know before the first turn. */
  readonly warnings: readonly string[];
}

export interface StartPlan {
  readonly capability: Capability;
  readonly name: string;
  readonly generation: number;
  readonly choice: RuntimeChoice;
  readonly model: ChosenModel;
}

const startable = ["coordinator", "orchestrator", "monitor"] as const;

/** Applies every rule about starting, and lets an earlier one of the name go that is over. */
export async function planStart(tx: Tx, context: Context, request: StartRequest): Promise<Result<StartPlan, Refusal>> {
  const wanted = wantedStart(context, request);
  if (!wanted.ok) return wanted;
  const refused = await refusedTargetOf(tx, context, request);
  if (refused !== undefined) return no(refused);
  const generation = await nextGeneration(tx, context, wanted.value.name);
  return generation.ok ? ok({ ...wanted.value, generation: generation.value }) : generation;
}

/** Refuses as `coordinator.start` would. Changes nothing: for callers that write something before they start one. */
export const checkStart: UseCase<StartRequest, { readonly agentName: string }> = {
  kind: "read",
  request: startFields,
  run: async (tx, context, request) => {
    const wanted = wantedStart(context, request);
    if (!wanted.ok) return wanted;
    const target = await refusedTargetOf(tx, context, request);
    if (target !== undefined) return no(target);
    const { name } = wanted.value;
    const found = await tx.agents.byName(name);
    const refused = found === undefined || (await isOver(tx, found)) ? undefined : await nameTaken(tx, found);
    return refused === undefined ? ok({ agentName: name }) : no(refused);
  },
};

/** A run that is joined has its target already. */
const refusedTargetOf = async (tx: Tx, context: Context, { targetBranch, runId }: StartRequest) =>
  targetBranch === undefined || runId !== undefined ? undefined : refusedTarget(tx, context, targetBranch, "target");

/** The rules that need no look at existing agents. */
function wantedStart(context: Context, request: StartRequest): Result<Omit<StartPlan, "generation">, Refusal> {
  const capability = startable.find((known) => known === request.capability);
  if (capability === undefined) {
    return no(invalid("capability", "leads no run", { value: request.capability, allowed: startable }));
  }
  const refused = forbidden(context, capability);
  if (refused !== undefined) return no(refused);
  const name = nameOf(request.name, capability);
  if (!name.ok) return name;
  const choice = chooseRuntime(context.settings, request.runtime, capability);
  if (!choice.ok) return choice;
  const { environment, model: asked } = request;
  const model = modelFor(
    context,
    { environment, ...(asked === undefined ? {} : { model: asked }) },
    choice.value,
    capability,
  );
  if (!model.ok) return model;
  const objective = request.objective?.trim() ?? "";
  const most = Math.floor(context.settings.mail.maxBodyBytes / 2);
  if (new TextEncoder().encode(objective).length > most) {
    return no(invalid("objective", `is longer than ${most} bytes; put the details into a file and name the file`));
  }
  return ok({ capability, name: name.value, choice: choice.value, model: model.value });
}

function forbidden({ caller }: Context, capability: Capability): Refusal | undefined {
  if (caller.kind !== "agent") return undefined;
  if (caller.capability === "orchestrator" && capability === "coordinator") return undefined;
  const why = "only the operator starts those who lead, and an orchestrator its coordinators";
  return { kind: "not-allowed", action: `start a ${capability}`, caller: caller.name, why };
}

/** A reserved address belongs to the capability of the same name. */
function nameOf(given: string | undefined, capability: Capability): Result<string, Refusal> {
  const typed = given?.trim() ?? "";
  if (typed === "") return ok(capability);
  const name = agentName(typed);
  if (!name.ok) return name;
  if (isReserved(name.value) && name.value !== capability) {
    return no(invalid("name", "is a reserved address", { value: typed }));
  }
  return name;
}

/** A live agent keeps its name. The name of an ended one is free: it only read, so nothing of it can be lost. */
async function nextGeneration(tx: Tx, context: Context, name: string): Promise<Result<number, Refusal>> {
  const found = await tx.agents.byName(name);
  if (found === undefined) return ok(1);
  const namesake = await retireIfOver(tx, context, found);
  const taken = await nameTaken(tx, namesake);
  if (taken !== undefined) return no(taken);
  if (namesake.releasedAt === null) await release(tx, context, namesake, `${name} starts again`);
  return ok(namesake.generation + 1);
}

async function nameTaken(tx: Tx, agent: Agent): Promise<Refusal | undefined> {
  const { name, worktreeKind, releasedAt } = agent;
  const isFree = hasEnded(agent) && (worktreeKind === "root" || releasedAt !== null);
  if (isFree) return undefined;
  const state = statusOf(agent).words;
  const run = await tx.runs.get(agent.runId);
  if (run?.coordinatorName !== name) return { kind: "name-taken", name, state };
  return { kind: "name-taken", name, state, leads: { runId: run.id, objective: run.objective, status: run.status } };
}
