import type { Role } from "./role-spec.ts";

/** The texts of one role: the one that ships, and the project's own files beside it. */
export interface RoleSources {
  readonly role: Role;
  readonly builtIn: string;
  /** Digest of the built-in text. */
  readonly hash: string;
  /** `<role>.md`: takes the place of the built-in text. */
  readonly replacement: string | undefined;
  /** `<role>.local.md`: added to whichever counts. */
  readonly addition: string | undefined;
}

/**
 * built-in   nothing of the project's own
 * replaced   the project's text counts; it was made from the built-in text of this version
 * outdated   the same, but the built-in text has changed since
 * ignored    there is a file, but it does not say which built-in text it replaces: an earlier program put such files
 *            there, and they speak of another engine
 */
export const overrideStates = ["built-in", "replaced", "outdated", "ignored"] as const;
export type OverrideState = (typeof overrideStates)[number];

export interface RoleText {
  readonly role: Role;
  /** What counts. */
  readonly text: string;
  readonly state: OverrideState;
  readonly added: boolean;
}

/** The text of a role that counts in a project. */
export function roleTextFrom({ role, builtIn, hash, replacement, addition }: RoleSources): RoleText {
  const head = replacement === undefined ? undefined : headOf(replacement, role);
  const counts = replacement === undefined || head === undefined ? builtIn : replacement.slice(head.length);
  const added = addition !== undefined && addition.trim() !== "";
  return {
    role,
    text: added ? `${counts.trimEnd()}\n\n${addition.trim()}\n` : counts,
    state: stateOf(replacement, head?.base, hash),
    added,
  };
}

/** The built-in text as the beginning of a replacement, with a mark that names its source. */
export const replacementOf = (role: Role, builtIn: string, hash: string): string =>
  `<!-- overstory:role ${role} ${shortHash(hash)} -->\n\n${builtIn}`;

/** Enough digits to tell texts apart. */
export const shortHash = (hash: string): string => hash.slice(0, 12);

function stateOf(replacement: string | undefined, base: string | undefined, hash: string): OverrideState {
  if (replacement === undefined) return "built-in";
  if (base === undefined) return "ignored";
  return base === shortHash(hash) ? "replaced" : "outdated";
}

function headOf(text: string, role: Role): { readonly base: string; readonly length: number } | undefined {
  const found = /^<!-- overstory:role ([a-z]+) ([0-9a-f]{12}) -->(?:\r?\n)+/.exec(text);
  const [whole, named, base] = found ?? [];
  return whole === undefined || base === undefined || named !== role ? undefined : { base, length: whole.length };
}
