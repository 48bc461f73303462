import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DemoRequest, DemoStage } from "../../ports/demo-stage.ts";
import type { Store } from "../../ports/store.ts";
import { databaseIn, stateDir } from "../project-place.ts";
import { partFiles } from "./parts.ts";
import { demoFiles, demoGate } from "./repository.ts";
import { planOf, scenarioOf } from "./scenario.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface StageTerms {
  readonly env: Environment;
  /** How this very program is started. */
  readonly self: readonly string[];
  /** Opens a database for reading. */
  readonly open: (path: string) => Store;
}

export function buildStage(request: DemoRequest, { env, self, open }: StageTerms): DemoStage {
  const plan = planOf(request);
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
  const ov = (...words: string[]): string => must([...self, ...words]);
  const succeeds = (...words: string[]): boolean => spawn(words).exitCode === 0;
  let store: Store | undefined;
  return {
    root,
    begin: () => {
      ov("init", "--yes");
      ov("config", "set", "runtime.default", "scripted");
      ov("config", "set", "engine.idleExitMs", "500");
      ov("config", "set", "agents.maxConcurrent", String(Math.max(4, request.agents)));
      const objective = "Make tally useful: averages, the largest entry, thousands, and an export";
      ov("go", objective, "--runtime", "scripted", "--gate", demoGate, "--no-attach", "--yes");
    },
    look: (work) => {
      store ??= open(databaseIn(stateDir(root)));
      return store.read(work);
    },
    promote: () => succeeds(...self, "merge", "promote"),
    test: () => succeeds("sh", "-c", demoGate),
    end: async ({ isComplete }) => {
      await store?.close();
      // A team that is not watched any more must not work on in a directory that will not be looked into.
      if (!isComplete) succeeds(...self, "coordinator", "stop", "--workers", "stop");
      succeeds(...self, "engine", "stop");
      if (!request.keep) rmSync(base, { recursive: true, force: true });
    },
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
