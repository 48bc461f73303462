import type { NotFound, Refusal } from "../../domain/refusal.ts";
import { type Exit, exits } from "./exits.ts";

/** Machine-readable families of errors; the details of each family keep their field names. */
export const codes = [
  "VALIDATION_ERROR",
  "CONFIG_ERROR",
  "AGENT_ERROR",
  "HIERARCHY_VIOLATION",
  "LIFECYCLE_ERROR",
  "WORKTREE_ERROR",
  "MAIL_ERROR",
  "MERGE_ERROR",
  "CHECK_ERROR",
  "GROUP_ERROR",
  "TASK_ERROR",
  "PERMISSION_ERROR",
  "BUSY_ERROR",
  "STORE_ERROR",
  "ENGINE_ERROR",
  "INTERNAL_ERROR",
] as const;

export type Code = (typeof codes)[number];

/** An error in the words of all surfaces: the event, its effect, and the next command to type. */
export interface Description {
  readonly code: Code;
  readonly exit: Exit;
  readonly message: string;
  readonly hint?: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The same request, unchanged, may succeed later. */
  readonly retryable: boolean;
}

/** The words of an error, without the details for programs. */
export type Words = Omit<Description, "details">;

/** A request that is wrong as it stands. */
export const rejected = (code: Code) => ({ code, exit: exits.usage, retryable: false }) as const;

/** `a`, `b` and `c` in prose. */
export function listed(items: readonly string[], conjunction = "or"): string {
  if (items.length < 2) return items[0] ?? "nothing";
  return `${items.slice(0, -1).join(", ")} ${conjunction} ${items[items.length - 1]}`;
}

/** The end of the sentence about a request that was refused before it changed anything. */
export const unchanged = "nothing was changed";

/** The same error after the command has changed something already: what that was, and that it stays. */
export function afterChanges(said: Description, changes: readonly string[]): Description {
  if (changes.length === 0) return said;
  const kept = `done before that, and kept: ${changes.join("; ")}`;
  const { message } = said;
  return { ...said, message: message.includes(unchanged) ? message.replace(unchanged, kept) : `${message}; ${kept}` };
}

type Details = Description["details"];

/** The code of an answer that is "no", where the answer itself names none. */
export const codeOfExit = (exit: number): Code => codesByExit[exit as Exit] ?? "INTERNAL_ERROR";

const codesByExit: Partial<Record<Exit, Code>> = {
  [exits.usage]: "VALIDATION_ERROR",
  [exits.setup]: "CONFIG_ERROR",
  [exits.merge]: "MERGE_ERROR",
  [exits.check]: "CHECK_ERROR",
  [exits.busy]: "BUSY_ERROR",
  [exits.notFound]: "MERGE_ERROR",
  [exits.permission]: "PERMISSION_ERROR",
  [exits.upstream]: "AGENT_ERROR",
  [exits.timeout]: "BUSY_ERROR",
  [exits.interrupted]: "LIFECYCLE_ERROR",
};

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
    case "criterion":
    case "event":
    case "finding":
    case "attention item":
    case "key":
      return {};
    case "branch":
    case "merge entry":
      return { branchName: id };
  }
}
