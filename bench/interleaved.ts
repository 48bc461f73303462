/** One thing to time. `before` runs untimed ahead of every round. */
export interface Contender {
  readonly name: string;
  readonly command: readonly string[] | ((round: number) => readonly string[]);
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Timing {
  readonly name: string;
  readonly medianMs: number;
  readonly p95Ms: number;
}

/**
 * Times whole processes, one of each per round: whatever the machine is busy with meanwhile hits all of them alike, so
 * their ratios can be trusted where their times cannot.
 */
export function timeInterleaved(contenders: readonly Contender[], rounds: number, warmUp = 5): Timing[] {
  const times = contenders.map((): number[] => []);
  for (let round = -warmUp; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const ms = timeOne(contender, round + warmUp);
      if (round >= 0) times[index]?.push(ms);
    }
  }
  return contenders.map(({ name }, index) => summary(name, times[index] ?? []));
}

function timeOne({ name, command, cwd, env }: Contender, round: number): number {
  const cmd = [...(typeof command === "function" ? command(round) : command)];
  const started = performance.now();
  const ended = Bun.spawnSync({
    cmd,
    stdio: ["ignore", "ignore", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...env } }),
  });
  const ms = performance.now() - started;
  if (ended.exitCode !== 0) throw new Error(`${name} exited ${ended.exitCode}: ${ended.stderr.toString()}`);
  return ms;
}

function summary(name: string, times: number[]): Timing {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { name, medianMs: at(0.5), p95Ms: at(0.95) };
}
