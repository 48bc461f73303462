import type { Command, Flag } from "./command.ts";
import { globalFlags } from "./globals.ts";
import { isNumber } from "./values.ts";

/** A flag as it was typed. */
export interface Match {
  readonly flag: Flag;
  readonly global: boolean;
  readonly negated: boolean;
}

/** The character code every flag starts with. */
export const dash = 45;

/** The flag a token names in this command: a global one before its own, and `--no-x` for a negatable one. */
export function lookUp(node: Command, token: string): Match | undefined {
  const name = nameOf(token);
  const global = globalFlags.find((flag) => isNamed(flag, name));
  if (global !== undefined) return { flag: global, global: true, negated: false };
  const own = node.flags?.find((flag) => isNamed(flag, name));
  if (own !== undefined) return { flag: own, global: false, negated: false };
  if (!name.startsWith("--no-")) return undefined;
  const denied = node.flags?.find((flag) => flag.negatable === true && flag.name === name.slice(5));
  return denied === undefined ? undefined : { flag: denied, global: false, negated: true };
}

function isNamed(flag: Flag, name: string): boolean {
  if (name.charCodeAt(1) === dash) return name.length === flag.name.length + 2 && name.endsWith(flag.name);
  return flag.short !== undefined && name === `-${flag.short}`;
}

/** The token without its value: `--to` of `--to=bob`. */
export function nameOf(token: string): string {
  const equals = token.indexOf("=");
  return equals === -1 ? token : token.slice(0, equals);
}

/** The value behind the equals sign, if there is one. */
export function inlineValue(token: string): string | undefined {
  const equals = token.indexOf("=");
  return equals === -1 ? undefined : token.slice(equals + 1);
}

/** A word that starts with a dash is a value only where it cannot be meant as a flag. */
export function mayBeValue(node: Command, flag: Flag, next: string): boolean {
  if (next.charCodeAt(0) !== dash || next === "-" || isNumber(next)) return true;
  const isText = flag.type === undefined || flag.type === "text";
  return isText && next !== "--" && lookUp(node, next) === undefined;
}
