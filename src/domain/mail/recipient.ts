import { type AgentState, hasEnded } from "../agent/agent.ts";
import { type Capability, canonical, capabilities } from "../agent/capability.ts";
import { agentName, isReserved } from "../name/name.ts";
import { nearest } from "../name/nearest.ts";
import { type InvalidInput, invalid, notFound, type Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { payloadFields } from "./payload.ts";
import type { MailType } from "./types.ts";

export interface RecipientFacts extends AgentFacts {
  /** The agent that took over its work, when it was recovered under another name. */
  readonly successorName: string | null;
  /** Budget and revivals allow another generation. */
  readonly reopenable: boolean;
  /** The status that a person reads, where that is not its state: an agent that was stopped has submitted nothing. */
  readonly ended?: string;
  /** Set for an agent that led a run which has ended: its mail has no new reader. */
  readonly runIsOver?: boolean;
}

/** The composer of the mail. `script` is a person's program; the engine's own notices are `engine`. */
export const mailOrigins = ["agent", "operator", "script", "engine"] as const;
export type MailOrigin = (typeof mailOrigins)[number];

export interface RoutedMail {
  readonly from: string;
  readonly to: string;
  readonly type: MailType;
  readonly payload: string | null;
  readonly origin: MailOrigin;
  /** It is its sender's terminal mail. */
  readonly terminal: boolean;
  /** `--wake` was given. */
  readonly wake: boolean;
  /** A script asked for unknown names to be refused. */
  readonly strict: boolean;
  /** Its sender answers for the addressee, or was given its work to judge. */
  readonly entitled: boolean;
  /** It answers mail of the addressee. */
  readonly answering?: boolean;
}

/**
 * Where mail goes.
 *
 *   deliver  to the addressee; `unknown` says that no agent of that name is known, with the nearest name
 *   reopen   to the addressee, whose next generation starts with it
 *   forward  to another name because the addressee has ended; `silent` forwards never wake
 */
export type Route =
  | {
      readonly kind: "deliver";
      readonly to: string;
      readonly unknown?: { readonly name: string; readonly nearest: string | null };
    }
  | { readonly kind: "reopen"; readonly to: string }
  | { readonly kind: "forward"; readonly to: string; readonly insteadOf: string; readonly silent: boolean };

/** What brings a submitted agent back to work, in the words of the command line. */
export const reopening = [
  "--type dispatch",
  "--type assign",
  "--type question",
  "--type review with verdict fail or needs_changes",
  "--type merge_failed",
  "--wake",
] as const;

const reopeningTypes: readonly MailType[] = ["dispatch", "assign", "question", "merge_failed"];

/** Decides what becomes of single-recipient mail. `agents` holds the newest incarnation per name. */
export function routeMail(mail: RoutedMail, agents: ReadonlyMap<string, RecipientFacts>): Result<Route, Refusal> {
  const recipient = agents.get(mail.to);
  if (recipient === undefined) return routeToUnknown(mail, agents);
  if (!hasEnded(recipient)) return ok({ kind: "deliver", to: mail.to });
  if (recipient.submitted && recipient.reopenable && reopens(mail)) return reopenFor(mail, recipient);
  if (mail.origin === "engine" || mail.terminal)
    return ok(forward(mail, nearestAncestor(recipient, agents), { silent: true }));
  if (isKeptForNext(mail, recipient)) return ok({ kind: "deliver", to: mail.to });
  const heir = recipient.submitted ? null : heirOf(recipient, agents);
  if (heir !== null && heir !== mail.from) return ok(forward(mail, heir, { silent: false }));
  const hints = recipient.submitted && recipient.reopenable ? reopening : [];
  const other = mail.origin === "agent" ? tellTheOperator : 'begin another run: ov go "<objective>"';
  const next = recipient.runIsOver === true ? { next: other } : {};
  return no({ kind: "recipient-ended", name: mail.to, state: stateOf(recipient), reopening: hints, ...next });
}

const tellTheOperator = 'tell the operator: ov mail send --to operator --subject "<what>" --body "<words>"';

/**
 * The next coordinator or monitor of a run that goes on reads what its agents left for the address, and answers to its
 * questions. What a person writes of their own accord is refused, because it would not be read now.
 */
function isKeptForNext({ to, origin, answering }: RoutedMail, { runIsOver }: RecipientFacts): boolean {
  return isReserved(to) && runIsOver !== true && (origin === "agent" || answering === true);
}

/** The heir of an ended agent's mail: its live successor, else its parent when that is live or the operator. */
export function heirOf(
  agent: Pick<RecipientFacts, "parentName" | "successorName">,
  agents: ReadonlyMap<string, AgentFacts>,
): string | null {
  const isLive = (name: string | null): name is string => {
    const facts = name === null ? undefined : agents.get(name);
    return facts !== undefined && !hasEnded(facts);
  };
  if (isLive(agent.successorName)) return agent.successorName;
  const parent = agent.parentName ?? "operator";
  return parent === "operator" || isLive(parent) ? parent : null;
}

/** Does mail of this kind bring a submitted agent back to work? */
export const reopens = (mail: Pick<RoutedMail, "type" | "payload" | "wake">): boolean =>
  mail.wake || reopeningTypes.includes(mail.type) || sendsBack(mail);

/** Mail that gives an agent work: a sender that may send the type may not send it to every agent. */
export const givesWork = (mail: Pick<RoutedMail, "type" | "payload">): boolean =>
  mail.type === "dispatch" || mail.type === "assign" || sendsBack(mail);

/** Mail that gives a submitted agent more to do. A question, or news about its branch, brings the agent back without that. */
export const callsBack = (mail: Pick<RoutedMail, "type" | "payload" | "wake">): boolean =>
  givesWork(mail) || (mail.wake && !reopeningTypes.includes(mail.type));

function sendsBack({ type, payload }: Pick<RoutedMail, "type" | "payload">): boolean {
  if (type !== "review") return false;
  const { verdict } = payloadFields(payload);
  return verdict === "fail" || verdict === "needs_changes";
}

/** An agent may not steer the agents of another lead, nor use up how often they may come back. */
function reopenFor(mail: RoutedMail, { parentName }: RecipientFacts): Result<Route, Refusal> {
  const { from, to, type } = mail;
  if (mail.origin !== "agent" || mail.entitled || !callsBack(mail)) return ok({ kind: "reopen", to });
  const whose = parentName ?? "operator";
  const why = `it has finished its work for ${whose}; only who answers for it, its reviewer and the operator give it more. Write to ${whose}, or ask ${to} with --type question`;
  return no({ kind: "not-allowed", action: `send ${to} back to work by ${type}`, caller: from, why });
}

function routeToUnknown(mail: RoutedMail, agents: ReadonlyMap<string, RecipientFacts>): Result<Route, Refusal> {
  if (isReserved(mail.to)) return ok({ kind: "deliver", to: mail.to });
  if (mail.origin === "engine") return ok(forward(mail, "operator", { silent: true }));
  const near = nearest(mail.to, agents.keys());
  if (mail.origin === "agent" || mail.strict) return no(notFound("agent", mail.to, near));
  return ok({ kind: "deliver", to: mail.to, unknown: { name: mail.to, nearest: near ?? null } });
}

/** Up the line of parents to the first that is live; the operator always is. */
function nearestAncestor(agent: AgentFacts, agents: ReadonlyMap<string, AgentFacts>): string {
  const visited = new Set([agent.name]);
  let name = agent.parentName;
  while (name !== null && !visited.has(name)) {
    visited.add(name);
    const facts = agents.get(name);
    if (facts === undefined) break;
    if (!hasEnded(facts)) return name;
    name = facts.parentName;
  }
  return "operator";
}

const forward = (mail: RoutedMail, to: string, { silent }: { readonly silent: boolean }): Route => ({
  kind: "forward",
  to,
  insteadOf: mail.to,
  silent,
});

const stateOf = (agent: RecipientFacts): string => agent.ended ?? (agent.submitted ? "submitted" : agent.state);

/** What the mail rules need to know about an agent: the newest incarnation of its name. */
export interface AgentFacts {
  readonly name: string;
  readonly capability: Capability;
  readonly state: AgentState;
  readonly parentName: string | null;
  readonly runId: string | null;
  /** Completed but not yet released. */
  readonly submitted: boolean;
}

type Group =
  | { readonly kind: "all" | "run" | "children" | "siblings" }
  | { readonly kind: "capability"; readonly capability: Capability };

export type Address =
  | { readonly kind: "agent"; readonly name: string }
  | { readonly kind: "group"; readonly text: string; readonly group: Group };

const relations = ["all", "run", "children", "siblings"] as const;

/** Every group, as it is listed to a user who mistyped one. */
export const groupAddresses = (): readonly string[] => [
  ...relations.map((relation) => `@${relation}`),
  ...capabilities.map((capability) => `@${capability}s`),
];

function groupAt(address: string): Group | undefined {
  const name = address.slice(1);
  const relation = relations.find((one) => one === name);
  if (relation !== undefined) return { kind: relation };
  const capability = capabilities.find((one) => one === name || `${one}s` === name);
  return capability === undefined ? undefined : { kind: "capability", capability };
}

const isGroupAddress = (text: string): boolean => text.trimStart().startsWith("@");

/** Reads what stands in `--to`. Whether the named agent exists is the business of `recipient.ts`. */
export function parseAddress(text: string, field = "to"): Result<Address, InvalidInput> {
  const typed = text.trim().toLowerCase();
  if (!isGroupAddress(typed)) {
    const name = agentName(typed, field);
    return name.ok ? ok({ kind: "agent", name: name.value }) : name;
  }
  const group = groupAt(typed);
  if (group !== undefined) return ok({ kind: "group", text: typed, group });
  const allowed = groupAddresses();
  const near = nearest(typed, allowed);
  const extra = { value: text, allowed };
  return no(invalid(field, "is not a group", near === undefined ? extra : { ...extra, nearest: near }));
}

/** The sender: an agent, or a name without a row such as the operator. */
interface SenderPlace {
  readonly name: string;
  readonly parentName: string | null;
  readonly runId: string | null;
}

/**
 * The names a message goes to. A group is its live members now, without the sender; an empty group is refused, because
 * mail without a recipient is nearly always a mistake.
 */
export function resolveRecipients(
  address: Address,
  sender: SenderPlace,
  agents: Iterable<AgentFacts>,
): Result<readonly string[], Refusal> {
  if (address.kind === "agent") return ok([address.name]);
  const members = new Set<string>();
  for (const agent of agents) {
    if (agent.name !== sender.name && !hasEnded(agent) && isMember(address.group, agent, sender))
      members.add(agent.name);
  }
  if (members.size > 0) return ok([...members]);
  return no({ kind: "no-recipients", address: address.text, why: whyEmpty(address.group, sender) });
}

function isMember(group: Group, agent: AgentFacts, sender: SenderPlace): boolean {
  switch (group.kind) {
    case "all":
      return true;
    case "run":
      return sender.runId !== null && agent.runId === sender.runId;
    case "children":
      return parentOf(agent) === sender.name;
    case "siblings":
      return sender.parentName !== null && parentOf(agent) === sender.parentName;
    case "capability":
      return canonical(agent.capability) === canonical(group.capability);
  }
}

/** An agent that was started without a parent belongs to the operator. */
const parentOf = (agent: AgentFacts): string => agent.parentName ?? "operator";

function whyEmpty(group: Group, sender: SenderPlace): string {
  switch (group.kind) {
    case "all":
      return "no other agent is live";
    case "run":
      return sender.runId === null ? `${sender.name} belongs to no run` : "no other agent of this run is live";
    case "children":
      return `${sender.name} has no live children`;
    case "siblings":
      return sender.parentName === null ? `${sender.name} has no parent` : `${sender.name} has no live siblings`;
    case "capability":
      return `no other agent with the capability ${canonical(group.capability)} is live`;
  }
}
