import { existsSync, readFileSync } from "node:fs";
import { gateMark, type Mark } from "../../domain/process/process.ts";

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
 * The same command with the mark of a gate: for a program that a file names which agents can write. It may be an agent's,
 * and must never pass for the operator. A process that is marked already passes its mark on.
 */
export function markedAsGate(cmd: readonly string[]): string[] {
  if (process.platform !== "linux" || lockLimitOf("self") !== undefined) return [...cmd];
  const mark = gateMark(Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex"));
  return ["/bin/sh", "-c", `${takeMark}exec "$@"`, "ov-marked", String(mark), ...cmd];
}

/**
 * The limit of file locks of a process, as far as it can never be raised again; undefined when there is none. Only root
 * can raise it, so a process with a limit runs inside an agent or a gate, or where its owner has set that limit.
 */
export function lockLimitOf(pid: number | "self"): Mark | undefined {
  let limits: string;
  try {
    limits = readFileSync(`/proc/${pid}/limits`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && gone.includes(String(error.code))) return undefined;
    throw error;
  }
  const at = limits.indexOf("\nMax file locks ");
  const line = at < 0 ? "" : limits.slice(at + 1, limits.indexOf("\n", at + 1));
  // "Max file locks", the soft limit, the hard limit: no pattern has to be compiled in every command.
  const hard = Number(line.split(" ").filter((word) => word !== "")[4]);
  return Number.isNaN(hard) ? undefined : hard;
}

/** The process ended, belongs to another user, or the system has no such file. */
const gone = ["ENOENT", "ESRCH", "EACCES", "EPERM"];

/**
 * The limit of this process. Read once: only root raises it, and we never lower it. Where Linux hides the file, the
 * answer is 0, so that the process counts as inside an agent.
 */
export function ownLockLimit(): Mark | undefined {
  own ??= { limit: existsSync("/proc/self/limits") || process.platform !== "linux" ? lockLimitOf("self") : 0 };
  return own.limit;
}

let own: { readonly limit: Mark | undefined } | undefined;
