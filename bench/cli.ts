import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fillWithHistory } from "./fill.ts";
import { type Contender, type Timing, timeInterleaved } from "./interleaved.ts";

const repository = resolve(import.meta.dir, "..");
const ov = join(repository, "dist", "ov");
const rounds = 60;

/**
 * What a hook pays: the hot commands against a bare process and a bare Bun, on an empty store and on one with a
 * million messages and a million events.
 */
export async function main(): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), "ov-bench-"));
  try {
    const stores = [0, 1_000, 1_000_000].map((size) => ({ size, root: makeProject(base, size) }));
    const floor: Contender[] = [
      { name: "/bin/true", command: ["/bin/true"] },
      { name: "bun -e 0", command: [process.execPath, "-e", "0"] },
      { name: "ov --version", command: [ov, "--version"] },
    ];
    const timings = timeInterleaved([...floor, ...stores.flatMap(({ size, root }) => hotCommands(root, size))], rounds);
    report(timings);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function hotCommands(root: string, size: number): Contender[] {
  const place = { cwd: root, env: { PATH: process.env.PATH ?? "", HOME: root } };
  const label = (what: string): string => `${what} @${size}`;
  return [
    {
      name: label("mail send"),
      command: (round) => [ov, "mail", "send", "--to", "operator", "--subject", "s", "--body", `round ${round}`],
      ...place,
    },
    { name: label("mail check --inject"), command: [ov, "mail", "check", "--inject", "--agent", "nobody"], ...place },
    {
      name: label("event write"),
      command: [ov, "log", "tool-start", "--agent", "b1", "--tool-name", "Bash"],
      ...place,
    },
  ];
}

function makeProject(base: string, size: number): string {
  const root = join(base, `store-${size}`);
  mkdirSync(join(root, ".overstory"), { recursive: true });
  writeFileSync(join(root, ".overstory", "config.yaml"), "project:\n  name: bench\n  canonicalBranch: main\n");
  const place = { cwd: root, env: { PATH: process.env.PATH ?? "", HOME: root } };
  // Reading commands make no database.
  for (const cmd of [
    ["git", "init", "--quiet"],
    [ov, "task", "create", "Anything"],
  ]) {
    const made = Bun.spawnSync({ cmd, ...place });
    if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  }
  if (size > 0) fillWithHistory(root, size);
  return root;
}

function report(timings: readonly Timing[]): void {
  const bun = timings.find(({ name }) => name === "bun -e 0")?.medianMs ?? Number.NaN;
  console.log("command                          median ms     p95 ms   x bun -e 0");
  for (const { name, medianMs, p95Ms } of timings) {
    console.log(
      `${name.padEnd(32)} ${medianMs.toFixed(2).padStart(9)} ${p95Ms.toFixed(2).padStart(10)} ${(medianMs / bun).toFixed(2).padStart(11)}`,
    );
  }
  console.log("\ngrowth from 10^3 to 10^6 rows");
  for (const what of ["mail send", "mail check --inject", "event write"]) {
    const of = (size: number): number =>
      timings.find(({ name }) => name === `${what} @${size}`)?.medianMs ?? Number.NaN;
    console.log(`${what.padEnd(32)} ${(of(1_000_000) / of(1_000)).toFixed(2)}`);
  }
}
