import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { canonical, isTerminal } from "../../domain/agent/capability.ts";
import { statusOf } from "../../domain/agent/status.ts";
import {
  type Address,
  callsBack,
  parseAddress,
  type RecipientFacts,
  type Route,
  resolveRecipients,
  routeMail,
} from "../../domain/mail/recipient.ts";
import type { MailType } from "../../domain/mail/types.ts";
import { isReserved } from "../../domain/name/name.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { mayReview } from "../completions/role-facts.ts";
import { answersFor } from "../merge/branch-owner.ts";
import { ownerOf } from "./inbox.ts";
import type { Sender } from "./sender.ts";

export interface Aim {
  readonly to: string;
  readonly type: MailType;
  readonly payload: string | null;
  /** `--wake` was given. */
  readonly wake: boolean;
  readonly strict: boolean;
  /** A group without members is no mistake. */
  readonly allowEmpty: boolean;
  /** It answers mail of the addressee, so the name of the addressee is known even without a row. */
  readonly answering: boolean;
}

/** The readers of a message. */
export interface Target {
  /** As it is stored with the message: a name or a group. */
  readonly address: string;
  readonly group: boolean;
  readonly readers: readonly Reader[];
  /** Set when the addressee has ended and its heir reads instead. */
  readonly insteadOf: string | null;
  readonly warnings: readonly string[];
}

export interface Reader {
  readonly name: string;
  /** Null for the operator and other names without a row. */
  readonly agent: Agent | null;
  /** May not be woken by this message. */
  readonly silent: boolean;
  /** Has submitted its work, and this message brings it back. */
  readonly reopens?: boolean;
}

/** Mail can start a turn of this reader. */
export const hasTurns = ({ agent, reopens }: Reader): boolean =>
  agent !== null && (reopens === true || !hasEnded(agent)) && agent.topology === "per_turn";

/** From what stands in `--to` to the names that get a delivery. */
export async function findTarget(tx: Tx, sender: Sender, aim: Aim): Promise<Result<Target, Refusal>> {
  const address = parseAddress(aim.to);
  if (!address.ok) return address;
  return address.value.kind === "group" ? groupTarget(tx, sender, aim, address.value) : singleTarget(tx, sender, aim);
}

async function groupTarget(
  tx: Tx,
  sender: Sender,
  aim: Aim,
  address: Extract<Address, { kind: "group" }>,
): Promise<Result<Target, Refusal>> {
  const live = new Map((await tx.agents.list({ live: true })).map((agent) => [agent.name, agent]));
  const runId = sender.known?.runId ?? (await tx.runs.current())?.id ?? null;
  const place = { name: sender.name, parentName: sender.known?.parentName ?? null, runId };
  const names = resolveRecipients(address, place, [...live.values()].map(factsOf));
  const target = { address: address.text, group: true, insteadOf: null, warnings: [] };
  if (names.ok) {
    const readers = names.value.map((name): Reader => ({ name, agent: live.get(name) ?? null, silent: false }));
    return ok({ ...target, readers });
  }
  if (names.refusal.kind === "no-recipients" && aim.allowEmpty) return ok({ ...target, readers: [] });
  return names;
}

async function singleTarget(tx: Tx, sender: Sender, aim: Aim): Promise<Result<Target, Refusal>> {
  const to = await ownerOf(tx, aim.to);
  const around = await agentsAround(tx, to);
  const { agent, name: from } = sender;
  const terminal =
    agent !== null && isTerminal({ capability: agent.capability, type: aim.type, toParent: to === agent.parentName });
  const acquainted = aim.answering && !around.has(to);
  const origin = acquainted && sender.origin === "agent" ? "script" : sender.origin;
  const facts = new Map([...around].map(([name, known]) => [name, factsOf(known)]));
  const over = await overHead(tx, around.get(to));
  if (over !== undefined) facts.set(to, { ...over, runIsOver: true });
  const { type, payload, wake, strict } = aim;
  const ended = [around.get(to)].find((one) => one !== undefined && hasEnded(one));
  const entitled = agent === null || ended === undefined || !callsBack(aim) || (await mayGiveWork(tx, agent, ended));
  const { answering } = aim;
  const mail = { from, to, type, payload, origin, terminal, wake, strict, entitled, answering };
  const route = routeMail(mail, facts);
  if (!route.ok) return route;
  return follow(route.value, around, acquainted);
}

/** The facts of an agent that led a run which has ended. */
async function overHead(tx: Tx, agent: Agent | undefined): Promise<RecipientFacts | undefined> {
  if (agent === undefined || !hasEnded(agent)) return undefined;
  const run = await tx.runs.get(agent.runId);
  return run?.coordinatorName === agent.name && run.status !== "active" ? factsOf(agent) : undefined;
}

function follow(route: Route, around: ReadonlyMap<string, Agent>, acquainted: boolean): Result<Target, Refusal> {
  const target = { address: route.to, group: false, insteadOf: null, warnings: [] };
  const known = around.get(route.to) ?? null;
  switch (route.kind) {
    case "deliver": {
      const warnings = route.unknown === undefined || acquainted ? [] : [unknownWarning(route.unknown)];
      return ok({ ...target, readers: [{ name: route.to, agent: known, silent: false }], warnings });
    }
    case "reopen":
      return ok({ ...target, readers: [{ name: route.to, agent: known, silent: false, reopens: true }] });
    case "forward": {
      const readers = [{ name: route.to, agent: known, silent: route.silent }];
      const warnings = [`${route.insteadOf} has ended, so the message goes to ${route.to}`];
      return ok({ ...target, address: route.insteadOf, insteadOf: route.insteadOf, readers, warnings });
    }
  }
}

function unknownWarning({ name, nearest }: { readonly name: string; readonly nearest: string | null }): string {
  const meant = nearest === null ? "" : `; did you mean "${nearest}"?`;
  return `no agent named "${name}" is known: the message waits until somebody reads that inbox${meant}`;
}

/** The addressee and, when it has ended, its line of parents; for an unknown name all agents, to suggest one. */
async function agentsAround(tx: Tx, name: string): Promise<ReadonlyMap<string, Agent>> {
  const first = await tx.agents.byName(name);
  if (first === undefined) {
    const everybody = isReserved(name) ? [] : await tx.agents.list({});
    return new Map(everybody.map((agent) => [agent.name, agent]));
  }
  const around = new Map<string, Agent>();
  let next: Agent | undefined = first;
  while (next !== undefined && !around.has(next.name)) {
    around.set(next.name, next);
    next = hasEnded(next) ? await tx.agents.byName(next.parentName) : undefined;
  }
  return around;
}

const factsOf = (agent: Agent): RecipientFacts => ({
  name: agent.name,
  capability: agent.capability,
  state: agent.state,
  parentName: agent.parentName,
  runId: agent.runId,
  submitted: isSubmitted(agent),
  successorName: agent.successorName,
  reopenable: true,
  ...(isSubmitted(agent) && agent.outcome !== "done" ? { ended: statusOf(agent).words } : {}),
});

/** May this sender send that agent back to work? The agents above it may, and a reviewer that was given its branch. */
export async function mayGiveWork(tx: Tx, sender: Agent, agent: Agent): Promise<boolean> {
  if (await answersFor(tx, agent, sender.name)) return true;
  if (canonical(sender.capability) !== "reviewer" || agent.branch === null) return false;
  return (await mayReview(tx, sender)).includes(agent.branch);
}
