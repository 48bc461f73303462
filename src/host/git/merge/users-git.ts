import type { GitAnswer } from "../git.ts";

/**
 * Git as the user has it, for the user's own checkout: filters such as those for large files must run, or the files
 * would come out wrong. Hooks do not: nobody is there to answer them. Nothing asks, and nothing reaches into submodules.
 */
export const usersGit = (cwd: string, ...args: string[]): Promise<GitAnswer> => usersGitWith({ cwd }, ...args);

export interface UsersGitCall {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
}

/** The same with another index or work tree than the one at `cwd`. */
export async function usersGitWith({ cwd, env = {}, stdin }: UsersGitCall, ...args: string[]): Promise<GitAnswer> {
  const child = Bun.spawn({
    cmd: ["git", "--no-pager", ...settings, ...args],
    cwd,
    env: { ...usersEnvironment(), ...env },
    stdio: [stdin ?? "ignore", "pipe", "pipe"],
    timeout: patienceMs,
    // Asked to end, git takes its lock away; killed, it would leave the user's index locked.
    killSignal: "SIGTERM",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const raw = Buffer.from(out);
  return { code, raw, out: raw.toString(), err, isLate: false };
}

/** Filters may fetch large files. */
const patienceMs = 15 * 60_000;

const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
].flatMap((setting) => ["-c", setting]);

/** Without the variables by which the caller's git could point ours elsewhere, and without our own secrets. */
function usersEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(GIT|OVERSTORY)_/.test(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
}
