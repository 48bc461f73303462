import type { MailType } from "../mail/types.ts";
import { nearest } from "../name/nearest.ts";
import { type InvalidInput, invalid, type Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

/** What kind of agent; a closed list, so the database check, the flag and the union cannot drift. */
export const capabilities = [
  "scout",
  "builder",
  "reviewer",
  "lead",
  "merger",
  "orchestrator",
  "coordinator",
  "supervisor",
  "monitor",
] as const;
export type Capability = (typeof capabilities)[number];

/**
 * Orthogonal classes. `supervisor` is in none: commands translate it to `lead` before anything asks.
 *
 *   taskScoped          ends with its task; counted in run completion
 *   persistent          long idle is normal; excluded from run completion, never reminded
 *   stopHookPersistent  the runtime's stop hook fires per model turn, so it does not end them
 *   implementation      may change files; only these get scope checks
 *   readOnly            finishes without commits
 */
export const capabilityClasses = {
  taskScoped: ["scout", "builder", "reviewer", "lead", "merger"],
  persistent: ["coordinator", "orchestrator", "monitor"],
  stopHookPersistent: ["coordinator", "orchestrator", "monitor", "lead"],
  implementation: ["builder", "merger"],
  readOnly: ["scout", "reviewer"],
} as const satisfies Record<string, readonly Capability[]>;
export type CapabilityClass = keyof typeof capabilityClasses;

/** Class membership by any text; unknown names belong to no class. */
export function isIn(capabilityClass: CapabilityClass, name: string): boolean {
  const members: readonly string[] = capabilityClasses[capabilityClass];
  return members.includes(name);
}

export const isCapability = (text: string): text is Capability => capabilities.some((known) => known === text);

/** `supervisor` is the older name of `lead`; everything that compares capabilities compares canonical ones. */
export const canonical = (capability: Capability): Capability => (capability === "supervisor" ? "lead" : capability);

/** A capability as typed in a command, already canonical. */
export function parseCapability(text: string, field = "capability"): Result<Capability, InvalidInput> {
  const typed = text.trim().toLowerCase();
  if (isCapability(typed)) return ok(canonical(typed));
  const near = nearest(typed, capabilities);
  const extra = { value: text, allowed: capabilities.filter((known) => known !== "supervisor") };
  return no(invalid(field, "is not a capability", near === undefined ? extra : { ...extra, nearest: near }));
}

const spawnMatrix: Readonly<Record<Capability | "operator", readonly Capability[]>> = {
  operator: capabilityClasses.taskScoped,
  coordinator: ["lead", "scout", "builder"],
  lead: ["scout", "builder", "reviewer", "merger"],
  supervisor: ["scout", "builder", "reviewer", "merger"],
  scout: [],
  builder: [],
  reviewer: [],
  merger: [],
  orchestrator: [],
  monitor: [],
};

/** What a parent may spawn. */
export const spawnable = (parent: Capability | "operator"): readonly Capability[] => spawnMatrix[parent];

/** May this parent spawn that capability? The refusal lists what it may spawn instead. */
export function maySpawn(
  parent: { readonly name: string; readonly capability: Capability | "operator" },
  capability: Capability,
): Result<Capability, Refusal> {
  const wanted = canonical(capability);
  const may = spawnable(parent.capability);
  if (may.includes(wanted)) return ok(wanted);
  return no({ kind: "may-not-spawn", parent: parent.name, capability: wanted, may });
}

const workerTypes: readonly MailType[] = ["worker_done"];
const endings: Readonly<Record<Capability, readonly MailType[]>> = {
  merger: ["merged", "merge_failed"],
  scout: workerTypes,
  builder: workerTypes,
  reviewer: workerTypes,
  lead: workerTypes,
  supervisor: workerTypes,
  coordinator: [],
  orchestrator: [],
  monitor: [],
};

/** The canonical types by which this capability declares its own work finished; persistent ones never do. */
export function terminalTypes(capability: string): readonly MailType[] {
  return isCapability(capability) ? endings[capability] : workerTypes;
}

/** All types worth looking at when deciding whether a turn sent its terminal mail; `isTerminal` then judges each. */
export function terminalCandidates(capability: string): readonly MailType[] {
  const types = terminalTypes(capability);
  return types.includes("worker_done") ? [...types, "result"] : types;
}

/**
 * Does this message say that its sender is finished? Models drift to `result`, which counts only when it goes to the
 * parent: a summary sent to any other name is not an ending.
 */
export function isTerminal(mail: {
  readonly capability: string;
  readonly type: MailType;
  readonly toParent: boolean;
}): boolean {
  if (terminalTypes(mail.capability).includes(mail.type)) return true;
  return mail.type === "result" && mail.toParent && terminalCandidates(mail.capability).includes("result");
}

/** Does this message claim that the work of its sender is complete? A merger that gives up claims nothing. */
export const claimsCompletion = (mail: Parameters<typeof isTerminal>[0]): boolean =>
  mail.type !== "merge_failed" && isTerminal(mail);
