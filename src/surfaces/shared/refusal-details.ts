import type { NotFound, Refusal } from "../../domain/refusal.ts";
import type { Description } from "./description.ts";

type Details = Description["details"];

/** The data of the refusal, plus the field names each family of codes has always carried. */
export function refusalDetails(refusal: Refusal): Details {
  const { kind: _, ...data } = refusal;
  switch (refusal.kind) {
    case "invalid":
      return { ...data, value: refusal.value ?? null };
    case "not-found":
      return { ...data, ...idField(refusal) };
    case "name-taken":
      return { ...data, agentName: refusal.name, capability: null };
    case "parent-full":
    case "parent-ended":
      return { ...data, agentName: refusal.parent, capability: null };
    case "may-not-spawn":
      return { ...data, agentName: refusal.parent, requestedCapability: refusal.capability };
    case "recipient-ended":
      return { ...data, agentName: refusal.name, messageId: null };
    case "rate-limited":
      return { ...data, agentName: refusal.sender, messageId: null };
    case "delivery-state":
      return { ...data, agentName: null, messageId: refusal.id };
    case "group-member":
    case "group-would-be-empty":
      return { ...data, groupId: refusal.group };
    default:
      return data;
  }
}

function idField({ noun, id }: NotFound): Details {
  switch (noun) {
    case "agent":
      return { agentName: id, capability: null };
    case "message":
      return { agentName: null, messageId: id };
    case "group":
      return { groupId: id };
    case "task":
    case "run":
    case "spec":
    case "merge operation":
    case "gate result":
    case "receipt":
    case "check":
    case "snapshot":
      return {};
    case "branch":
    case "merge entry":
      return { branchName: id };
  }
}
