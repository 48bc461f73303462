import type { Agent } from "../../domain/agent/agent.ts";
import { gateVariables } from "../../domain/agent/environment.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { TrialGate } from "../../domain/completion/check.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { roleOf } from "../../domain/role/roles.ts";
import { fields, list, notSent, record, text } from "../../domain/schema/schema.ts";
import type { ProjectFiles } from "../../ports/project-files.ts";
import type { Tx } from "../../ports/store.ts";
import { forgetEnvironment, keepEnvironment } from "../agents/sling.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import type { PrepareTerms, UseCase } from "../usecase.ts";
import { type CheckTicket, queueCheck } from "./checks.ts";

/** Where nothing is named: what the project has checked out, or the caller's own branch. */
const projectHead = "HEAD";

/** A check that a person types runs as in their own shell; a path in a request is never believed. */
interface TypedInShell {
  readonly environment?: Readonly<Record<string, string>>;
  readonly envFile?: string;
}

const shellFields = { environment: record(text), envFile: notSent } as const;

const inOwnShell = {
  prepare: async <R extends TypedInShell>(files: ProjectFiles, terms: PrepareTerms, request: R) => {
    const { envFile: _, ...rest } = request;
    if (request.environment === undefined) return ok(rest as R);
    return keepEnvironment(files, terms, { ...rest, environment: gateVariables(request.environment) });
  },
  discard: forgetEnvironment,
} as const;

const fileOf = ({ envFile }: TypedInShell): { readonly envFile?: string } => (envFile === undefined ? {} : { envFile });

interface GatesRequest extends TypedInShell {
  readonly ref?: string | undefined;
  /** Runs every gate, and these gates that are not configured yet. Only for the operator. */
  readonly trial?: readonly TrialGate[];
}

/** Has the gates run on a ref, or on the branch of an agent. Agents ask about work of their own run. */
export const requestGates: UseCase<GatesRequest, CheckTicket> = {
  kind: "write",
  request: fields({}, { ...shellFields, ref: text, trial: list(fields({ name: text, command: text })) }),
  ...inOwnShell,
  run: async (tx, context, { ref, trial, ...typed }) => {
    const { caller } = context;
    const subject = await subjectOf(tx, caller, ref?.trim() ?? "");
    const refused = forbidden(caller, subject);
    if (refused !== undefined) return no(refused);
    const tried = trial === undefined || caller.kind === "agent" ? {} : { trial };
    const request = { kind: "check", ...fileOf(typed), ...tried } as const;
    const { refName, agent } = subject;
    const about = { agentId: agent?.id ?? null, agentName: agent?.name ?? null };
    return ok(await queueCheck(tx, context, { kind: "check", ...about, refName, request }));
  },
};

/** Runs the gates of a receipt again, without any stored result, and compares. */
export const requestVerify: UseCase<TypedInShell & { readonly receipt: string }, CheckTicket> = {
  kind: "write",
  request: fields({ receipt: text }, shellFields),
  ...inOwnShell,
  run: async (tx, context, { receipt: receiptId, ...typed }) => {
    const receipt = await tx.receipts.get(receiptId);
    if (receipt === undefined) return no(notFound("receipt", receiptId));
    const allowed = mayRun(context.caller, `verify ${receiptId}`);
    if (!allowed.ok) return allowed;
    const request = { kind: "verify", receiptId, ...fileOf(typed) } as const;
    const none = { agentId: null, agentName: null };
    return ok(await queueCheck(tx, context, { kind: "verify", ...none, refName: receiptId, request }));
  },
};

interface CheckSubject {
  readonly refName: string;
  readonly agent: Agent | undefined;
}

async function subjectOf(tx: Tx, caller: Caller, typed: string): Promise<CheckSubject> {
  if (typed === "") {
    const self = caller.kind === "agent" ? await tx.agents.get(caller.agentId) : undefined;
    return { refName: self?.branch ?? projectHead, agent: self };
  }
  const named = await tx.agents.byName(typed);
  if (named?.branch != null) return { refName: named.branch, agent: named };
  return { refName: typed, agent: await ownerOfBranch(tx, typed) };
}

function forbidden(caller: Caller, { refName, agent }: CheckSubject): Refusal | undefined {
  const allowed = mayRun(caller, `run the gates on ${refName}`);
  if (!allowed.ok) return allowed.refusal;
  if (caller.kind !== "agent" || agent?.runId === caller.runId) return undefined;
  const why = "it is no branch of an agent of its run";
  return { kind: "not-allowed", action: `run the gates on ${refName}`, caller: caller.name, why };
}

function mayRun(caller: Caller, action: string): Result<Caller, Refusal> {
  if (caller.kind !== "agent" || roleOf(caller.capability).access.gates) return ok(caller);
  const why = `a ${caller.capability} has no use for gates`;
  return no({ kind: "not-allowed", action, caller: caller.name, why });
}
