import { existsSync, readFileSync } from "node:fs";
import type { Mark } from "../../domain/process/process.ts";

/**
 * For `/bin/sh -c`: takes the mark as its first word and puts it on the shell, and so on all that comes from it. Linux
 * has not used this limit since 2.4. Shells disagree about the letter (`-w` in dash and busybox, `-x` in bash, zsh and
 * ksh) and about what is set without `-S` and `-H`. Some count in 32 bits, so
 * what was set is read again. A process that cannot be marked is not started.
 */
export const takeMark = `
{ ulimit -S -x "$1" && ulimit -H -x "$1" && [ "$(ulimit -H -x)" = "$1" ]; } 2>/dev/null ||
{ ulimit -S -w "$1" && ulimit -H -w "$1" && [ "$(ulimit -H -w)" = "$1" ]; } 2>/dev/null ||
{ echo "ov: the limit of file locks, by which agents are known, cannot be lowered to $1 (ulimit -x or -w)" >&2; exit 125; }
shift
`;

/**
 * The limit of file locks of a process, as far as it can never be raised again; undefined when there is none. Only root
 * can raise it, so whoever has one is inside an agent or a gate, or in a place that its owner limited so.
 */
export function lockLimitOf(pid: number | "self"): Mark | undefined {
  let limits: string;
  try {
    limits = readFileSync(`/proc/${pid}/limits`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && gone.includes(String(error.code))) return undefined;
    throw error;
  }
  const hard = /^Max file locks +\S+ +(\d+)/m.exec(limits)?.[1];
  return hard === undefined ? undefined : Number(hard);
}

/** It ended, it is somebody else's, or this system has no such file. */
const gone = ["ENOENT", "ESRCH", "EACCES", "EPERM"];

/**
 * Of this process. Read once: nothing but root raises it, and we never lower it. Where Linux does not tell, somebody has
 * hidden it, and nobody is believed to be outside of agents.
 */
export function ownLockLimit(): Mark | undefined {
  own ??= { limit: existsSync("/proc/self/limits") || process.platform !== "linux" ? lockLimitOf("self") : 0 };
  return own.limit;
}

let own: { readonly limit: Mark | undefined } | undefined;
