import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { isOpenCheck, type StoredCheck } from "../../domain/completion/check.ts";
import {
  type DoneRequest,
  doneByMail,
  type FinishMail,
  parseDone,
  type TypedDone,
} from "../../domain/completion/request.ts";
import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { engineKeys } from "../mail/compose.ts";
import type { Stream } from "../operation.ts";
import type { Context, UseCase } from "../usecase.ts";

export interface RequestDone extends TypedDone {
  /** For whom the operator speaks; an agent speaks for itself. */
  readonly agent?: string | undefined;
  /** The caller's task, as a check that it means this one. */
  readonly task?: string | undefined;
}

/**
 * An agent says that its work is done. Nothing is believed yet: the engine looks at the work, runs the gates and only
 * then tells the parent. Asking again while that lasts attaches to it; the newest words count.
 */
export const requestDone: UseCase<RequestDone, CheckTicket> = {
  kind: "write",
  request: fields(
    { summary: text },
    {
      learned: text,
      verdict: text,
      findings: text,
      branch: text,
      expansionReason: text,
      noCode: flag,
      reason: text,
      agent: text,
      task: text,
    },
  ),
  run: async (tx, context, { agent: named, task, ...typed }) => {
    const done = parseDone(typed);
    if (!done.ok) return done;
    const found = await findFinisher(tx, context.caller, named);
    if (!found.ok) return found;
    const agent = found.value;
    if (task !== undefined && task !== agent.taskId) {
      return no(invalid("task", `is not the task of ${agent.name}`, { value: task, allowed: ownTask(agent) }));
    }
    const why = await whyNoOtherVerdict(tx, agent, done.value);
    if (why !== undefined) {
      const action = `give another verdict for ${agent.name}`;
      return no({ kind: "not-allowed", action, caller: context.caller.name, why });
    }
    return ok(await queueCompletion(tx, context, agent, () => done.value));
  },
};

/**
 * Why a review is refused that says something else than the accepted one of the same incarnation. That verdict was acted
 * on: a builder was started again, a branch passed or a run ended. The same review once more is answered as before.
 */
async function whyNoOtherVerdict(
  tx: Tx,
  agent: Agent,
  { verdict, findings, branch }: DoneRequest,
): Promise<string | undefined> {
  const accepted = (await tx.checks.completionsOf(agent.id)).find(({ status }) => status === "done");
  const before = accepted?.request.kind === "completion" ? accepted.request.done : undefined;
  if (accepted === undefined || before === undefined || before.verdict === null || verdict === null) return undefined;
  const isSame =
    verdict === before.verdict &&
    JSON.stringify(findings) === JSON.stringify(before.findings) &&
    (branch === null || before.branch === null || branch === before.branch);
  if (isSame) return undefined;
  const report = await reportOf(tx, accepted);
  const where = report === null ? "" : ` (ov mail read ${report})`;
  const to = agent.parentName;
  return `its verdict ${before.verdict} was accepted and reported to ${to}${where}, and stays. If it was wrong, say so: ov mail send --to ${to} --type error --subject "<verdict>" --body "<what is wrong>"`;
}

/** Asks the engine to look at the agent's work, or attaches to the same question that is not answered yet. */
async function queueCompletion(
  tx: Tx,
  context: Pick<Context, "ids" | "now" | "caller">,
  agent: Agent,
  words: (before: DoneRequest | undefined) => DoneRequest,
): Promise<CheckTicket> {
  const open = (await tx.checks.completionsOf(agent.id)).find(isOpenCheck);
  const before = open?.request.kind === "completion" ? open.request.done : undefined;
  const request = { kind: "completion", done: words(before) } as const;
  if (open !== undefined) {
    await tx.checks.change(open.id, [open.status], { request, updatedAt: context.now });
    return { id: open.id, attached: true };
  }
  const { id: agentId, name: agentName } = agent;
  const refName = agent.branch ?? agent.name;
  return queueCheck(tx, context, { kind: "completion", agentId, agentName, refName, request });
}

/** An agent said by mail that its work is done: it gets the checks of `ov done`, and the report carries its words. */
export async function requestDoneByMail(
  tx: Tx,
  context: Pick<Context, "ids" | "now" | "caller">,
  agent: Agent,
  { body, ...mail }: FinishMail & { readonly body: string },
): Promise<Result<CheckTicket, Refusal>> {
  const allowed = mayFinish(agent, context.caller);
  if (!allowed.ok) return allowed;
  return ok(await queueCompletion(tx, context, agent, (before) => doneByMail(body.trim(), mail, before)));
}

async function findFinisher(tx: Tx, caller: Caller, named: string | undefined): Promise<Result<Agent, Refusal>> {
  if (caller.kind === "agent" && named !== undefined && named !== caller.name) {
    const why = "an agent finishes its own work only";
    return no({ kind: "not-allowed", action: `finish for ${named}`, caller: caller.name, why });
  }
  if (caller.kind !== "agent" && named === undefined)
    return no(
      invalid("--agent", "must name the agent whose work is done; only an agent that says so itself leaves it out"),
    );
  const agent = caller.kind === "agent" ? await tx.agents.get(caller.agentId) : await tx.agents.byName(named ?? "");
  if (agent === undefined) return no(notFound("agent", named ?? caller.name, await near(tx, named)));
  return mayFinish(agent, caller);
}

function mayFinish(agent: Agent, caller: Caller): Result<Agent, Refusal> {
  const refuse = (why: string): Result<Agent, Refusal> =>
    no({ kind: "not-allowed", action: `finish ${agent.name}`, caller: caller.name, why });
  if (hasEnded(agent)) return refuse(`it has ended (${agent.outcome ?? agent.state})`);
  if (agent.stopRequestedBy !== null) return refuse(`${agent.stopRequestedBy} asked it to stop`);
  if (isIn("persistent", agent.capability)) return refuse(`a ${agent.capability} does not end with a task`);
  return ok(agent);
}

const near = async (tx: Tx, name: string | undefined): Promise<string | undefined> =>
  name === undefined ? undefined : nearest(name, await tx.agents.names());

const ownTask = ({ taskId }: Agent): readonly string[] => (taskId === null ? [] : [taskId]);

/** The part of a check that its caller names; the engine finds out the rest. */
type NewCheck = Pick<StoredCheck, "kind" | "agentId" | "agentName" | "refName" | "request">;

export interface CheckTicket {
  /** What to ask for the answer with. */
  readonly id: string;
  /** The same was asked before and is not answered yet. */
  readonly attached: boolean;
}

/** Stores a check. The transaction wakes the engine, which answers the check. */
export async function queueCheck(
  tx: Tx,
  { ids, now, caller }: Pick<Context, "ids" | "now" | "caller">,
  check: NewCheck,
): Promise<CheckTicket> {
  const id = ids.next("check");
  await tx.checks.insert({
    ...check,
    id,
    commitId: null,
    status: "queued",
    progress: null,
    verdict: null,
    receiptId: null,
    problem: [],
    attempts: 0,
    requestedBy: caller.name,
    createdAt: now,
    updatedAt: now,
  });
  return { id, attached: false };
}

export interface CheckReply {
  readonly check: StoredCheck;
  /** The evidence, once there is some, and the gate results it rests on. */
  readonly receipt: Receipt | null;
  readonly results: readonly GateResult[];
  /** The report that was sent for an accepted completion. */
  readonly messageId: string | null;
}

/** How far a stored check is, and in the end its answer. */
export const checkStatus: UseCase<{ readonly id: string }, CheckReply> = {
  kind: "read",
  request: fields({ id: text }),
  run: async (tx, _context, { id }) => {
    const check = await tx.checks.get(id);
    if (check === undefined) return no(notFound("check", id));
    const receipt = check.receiptId === null ? undefined : await tx.receipts.get(check.receiptId);
    const results = receipt === undefined ? [] : await tx.gates.all(receipt.results);
    return ok({ check, receipt: receipt ?? null, results, messageId: await reportOf(tx, check) });
  },
};

async function reportOf(tx: Tx, check: StoredCheck): Promise<string | null> {
  const { request, status, agentId, agentName, commitId } = check;
  if (request.kind !== "completion" || status !== "done" || agentName === null || agentId === null) return null;
  const report = await tx.messages.byDedupeKey(agentName, reportKey(agentId, commitId));
  // It was sent under a key of the agent's own, if no other message had that key.
  const own = report === undefined ? (request.done.mail?.dedupeKey ?? null) : null;
  return (own === null ? report : await tx.messages.byDedupeKey(agentName, own))?.id ?? null;
}

/** One incarnation reports one commit once. */
export const reportKey = (agentId: string, commit: string | null): string =>
  `${engineKeys}done:${agentId}:${commit ?? ""}`;

/**
 * Waits for the answer to a stored check. The check lives in the store: when the caller leaves, it goes on, and asking
 * again attaches to it. Undefined: the caller has left.
 */
export const followCheck: Stream<{ readonly id: string }, CheckReply | undefined, StoredCheck> = {
  kind: "stream",
  request: fields({ id: text }),
  place: "engine",
  run: async (world, request, { onItem, signal }) =>
    world.until(async () => {
      if (signal.aborted) return ok(undefined);
      const found = await world.call("done.status", request);
      if (!found.ok || !isOpenCheck(found.value.check)) return found;
      onItem(found.value.check);
      return undefined;
    }, signal),
};
