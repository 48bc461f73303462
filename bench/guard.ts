import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { roles } from "../src/domain/role/roles.ts";
import { randomIds } from "../src/host/ids.ts";
import { policyFor, runs } from "../testkit/guard.ts";
import { guardClasses } from "../testkit/guard-cases.ts";
import { timeInterleaved } from "./interleaved.ts";
import { quantile, verdict } from "./stats.ts";

const ov = join(resolve(import.meta.dir, ".."), "dist", "ov");

/** What the guard takes: one decision, and the whole call that an agent's program makes before each tool. */
export async function main(): Promise<void> {
  decisions();
  calls();
}

/** Over the cases of all classes, each in the middle of several tries: a busy machine interrupts some of them. */
function decisions(): void {
  const cases = guardClasses().flatMap((each) => each.cases);
  const tries = 9;
  const medians = cases.map(({ role, command }) => {
    const policy = policyFor(roles[role]);
    const times = Array.from({ length: tries }, () => {
      const began = performance.now();
      runs(policy, command);
      return performance.now() - began;
    });
    return quantile(times, 0.5);
  });
  const shown = [0.5, 0.99, 1].map((part) => quantile(medians, part).toFixed(3));
  console.log(
    `one decision over ${cases.length} commands: median ${shown[0]} ms, p99 ${shown[1]} ms, most ${shown[2]} ms (wanted: 1 ms)`,
  );
}

/** The hook with the rules in a file, as it is called in a turn: allowed uses open no database. */
function calls(): void {
  const base = mkdtempSync(join(tmpdir(), "ov-bench-guard-"));
  try {
    const root = join(base, "repo");
    mkdirSync(root);
    const rules = join(base, "guard.json");
    const text = JSON.stringify(
      policyFor(roles.builder, { root, worktree: root, state: join(root, ".git", "ov-state") }),
    );
    writeFileSync(rules, text);
    const input = join(base, "input.json");
    writeFileSync(
      input,
      JSON.stringify({ tool_name: "Bash", tool_input: { command: "git add -A && npm test | tail -20" }, cwd: root }),
    );
    const hook = [ov, "hook", "pre-tool", "--rules", rules, "--digest", randomIds.digest(text)];
    const shell = `exec ${hook.map((word) => `'${word}'`).join(" ")} < '${input}'`;
    const env = { PATH: process.env.PATH ?? "", HOME: base };
    const timings = timeInterleaved(
      [
        { name: "sh -c :", command: ["/bin/sh", "-c", ":"], env },
        { name: "bun -e 0", command: [process.execPath, "-e", "0"], env },
        { name: "sh -c 'exec ov hook pre-tool'", command: ["/bin/sh", "-c", shell], env },
      ],
      60,
    );
    const bun = timings.find(({ name }) => name === "bun -e 0")?.medianMs ?? Number.NaN;
    for (const { name, medianMs } of timings) {
      console.log(
        `${name.padEnd(32)} ${medianMs.toFixed(2).padStart(9)} ms ${(medianMs / bun).toFixed(2).padStart(7)} x bun -e 0`,
      );
    }
    const hooked = timings.at(-1)?.medianMs ?? Number.NaN;
    console.log(`the hook takes at most 3 x bun -e 0: ${verdict(hooked / bun, 3)}`);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
