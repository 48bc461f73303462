export interface GitAnswer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs git in a repository that agents may have touched: no hooks, no fsmonitor, no pager, no prompt, and none of the
 * variables by which a caller's git could redirect ours.
 */
export async function git(cwd: string, ...args: string[]): Promise<GitAnswer> {
  const safe = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"];
  const child = Bun.spawn({
    cmd: ["git", ...safe, ...args],
    cwd,
    env: gitEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

function gitEnvironment(): Record<string, string> {
  const env: Record<string, string> = { GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
  for (const name of ["HOME", "PATH", "USER", "TMPDIR", "XDG_CONFIG_HOME"]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
