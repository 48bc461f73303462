import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../project.ts";
import { selfCommand } from "../self.ts";
import { partFiles } from "./parts.ts";
import { demoFiles } from "./repository.ts";
import { type DemoPlan, scenarioOf } from "./scenario.ts";

/** A throwaway repository with a home of its own, and the program as a person would type it there. */
export interface Stage {
  readonly base: string;
  readonly root: string;
  /** How this very program is started. */
  readonly self: readonly string[];
  ov(...words: string[]): string;
  /** True when the command succeeded. */
  run(...words: string[]): boolean;
}

export function buildStage(plan: DemoPlan, env: Environment): Stage {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ov-demo-")));
  const root = join(base, "tally");
  const parts = join(base, "parts");
  put(root, demoFiles);
  put(parts, { ...partFiles, "plan.json": JSON.stringify({ features: plan.features, parts: plan }) });
  put(base, { "scenario.json": scenarioOf(plan, parts), "home/.gitconfig": identity });
  const own = {
    PATH: env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: join(base, "home"),
    TMPDIR: base,
    OVERSTORY_SCENARIO: join(base, "scenario.json"),
    OVERSTORY_SCENARIO_STATE: join(base, "state"),
    ...testSeams(env),
  };
  const spawn = (words: readonly string[]) =>
    Bun.spawnSync({ cmd: [...words], cwd: root, env: own, stdio: ["ignore", "pipe", "pipe"] });
  const must = (words: readonly string[]): string => {
    const ran = spawn(words);
    if (ran.exitCode === 0) return ran.stdout.toString();
    throw new Error(`${words.slice(0, 4).join(" ")} exited ${ran.exitCode}: ${ran.stderr}${ran.stdout}`);
  };
  must(["git", "init", "--quiet", "--initial-branch=main"]);
  must(["git", "add", "-A"]);
  must(["git", "commit", "--quiet", "-m", "tally, as it was before"]);
  return {
    base,
    root,
    self: selfCommand(),
    ov: (...words) => must([...selfCommand(), ...words]),
    run: (...words) => spawn(words).exitCode === 0,
  };
}

const identity = "[user]\n\tname = Demo\n\temail = demo@example.invalid\n[init]\n\tdefaultBranch = main\n";

const testSeams = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && name.startsWith("OVERSTORY_TEST_") ? [[name, value] as const] : [],
    ),
  );

function put(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}
