import { type AgentState, hasEnded } from "../agent/agent.ts";
import { type Capability, canonical, capabilities } from "../agent/capability.ts";
import { agentName } from "../name/name.ts";
import { nearest } from "../name/nearest.ts";
import { type InvalidInput, invalid, type Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

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

export type Group =
  | { readonly kind: "all" | "run" | "children" | "siblings" }
  | { readonly kind: "capability"; readonly capability: Capability };

export type Address =
  | { readonly kind: "agent"; readonly name: string }
  | { readonly kind: "group"; readonly text: string; readonly group: Group };

const relations = ["all", "run", "children", "siblings"] as const;

/** Every group, as it is listed to a user who mistyped one. */
export const groupAddresses: readonly string[] = [
  ...relations.map((relation) => `@${relation}`),
  ...capabilities.map((capability) => `@${capability}s`),
];

const groups: ReadonlyMap<string, Group> = new Map<string, Group>([
  ...relations.map((kind) => [`@${kind}`, { kind }] as const),
  ...capabilities.flatMap((capability) => {
    const group = { kind: "capability", capability } as const;
    return [[`@${capability}`, group] as const, [`@${capability}s`, group] as const];
  }),
]);

export const isGroupAddress = (text: string): boolean => text.trimStart().startsWith("@");

/** Reads what stands in `--to`. Whether the named agent exists is the business of `recipient.ts`. */
export function parseAddress(text: string, field = "to"): Result<Address, InvalidInput> {
  const typed = text.trim().toLowerCase();
  if (!isGroupAddress(typed)) {
    const name = agentName(typed, field);
    return name.ok ? ok({ kind: "agent", name: name.value }) : name;
  }
  const group = groups.get(typed);
  if (group !== undefined) return ok({ kind: "group", text: typed, group });
  const near = nearest(typed, groupAddresses);
  const extra = { value: text, allowed: groupAddresses };
  return no(invalid(field, "is not a group", near === undefined ? extra : { ...extra, nearest: near }));
}

/** Who writes: an agent, or somebody without a row such as the operator. */
export interface SenderPlace {
  readonly name: string;
  readonly parentName: string | null;
  readonly runId: string | null;
}

/**
 * The names a message goes to. A group is whoever is live now, without its sender; an empty group is a refusal, because
 * mail to nobody is nearly always a mistake.
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

/** Whoever was started without a parent belongs to the operator. */
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
