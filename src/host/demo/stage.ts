import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DemoRequest, DemoStage } from "../../ports/demo-stage.ts";
import type { Store } from "../../ports/store.ts";
import { databaseIn, stateDir } from "../project-place.ts";
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
    // In a group of its own: Ctrl-C at the terminal is for the demonstration, which then ends its team in order.
    Bun.spawnSync({ cmd: [...words], cwd: root, env: own, stdio: ["ignore", "pipe", "pipe"], detached: true });
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
      if (request.keep) return;
      rmSync(base, { recursive: true, force: true });
      // The process of a turn that was stopped outlives the engine for a moment, and may write down its end here once more.
      for (let looks = isComplete ? 0 : 20; looks > 0; looks--) {
        await Bun.sleep(100);
        rmSync(base, { recursive: true, force: true });
      }
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

/**
 * What the agents of the demonstration decide with, where a real one has a model. Each is a small program that looks at
 * how things stand and does the next thing, so it can be woken at any time, any number of times.
 */

const common = `import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export const me = process.env.OVERSTORY_AGENT_NAME;
export const { features, parts } = JSON.parse(readFileSync(new URL("./plan.json", import.meta.url), "utf8"));

/** Runs ov and answers its document, also that of a refusal. */
export function ov(...words) {
  try {
    return JSON.parse(execFileSync("ov", [...words, "--json"], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
  } catch (error) {
    return JSON.parse(error.stdout);
  }
}

export const git = (...words) => execFileSync("git", words, { encoding: "utf8" }).trim();
export const agents = () => new Map(ov("status", "--all").agents.map((agent) => [agent.agentName ?? agent.name, agent]));
export const hasEnded = (agent) => ["completed", "zombie"].includes(agent.state);
`;

const coordinator = `import { me, ov, agents, features } from "./common.mjs";

const known = agents();
if (ov("run", "criteria").criteria.every((criterion) => criterion.addedBy === "system")) {
  ov("run", "criteria", "add", ...features.map((feature) => feature.title));
}
const { criteria } = ov("run", "criteria");
const featureOf = (number) => features.find(({ title }) => title === criteria.find((one) => one.number === number)?.text);
for (const lead of new Set(features.map((feature) => feature.lead))) {
  if (known.has(lead)) continue;
  const task = lead.replace("lead-", "");
  const titles = features.filter((feature) => feature.lead === lead).map((feature) => feature.title);
  const serves = criteria.filter(({ text }) => titles.includes(text)).map(({ number }) => number);
  ov("task", "create", titles.join(", "), "--id", task, "--criteria", serves.join(","));
  ov("sling", task, "--capability", "lead", "--name", lead);
}
let end = ov("run", "complete");
if (end.details?.tasks?.length === 0 && end.details.agents.length === 0) {
  for (const number of end.details.criteria) ov("run", "criteria", "prove", String(number), "--file", featureOf(number).files[1]);
  end = ov("run", "complete");
}
console.log(end.status === "completed" ? "the run is complete" : "there is still work; I wait");
`;

const lead = `import { me, ov, git, agents, features, hasEnded, parts } from "./common.mjs";

const mine = features.filter((feature) => feature.lead === me);
const known = agents();
const scout = "scout-" + me;

function next() {
  if (parts.scoutedBy === me) {
    const seen = known.get(scout);
    if (seen === undefined) {
      ov("task", "create", "Where do new functions go?", "--id", "look-" + me);
      return ov("sling", "look-" + me, "--capability", "scout", "--name", scout);
    }
    if (!hasEnded(seen)) return;
  }
  for (const { builder, task, title, files } of mine) {
    if (known.has(builder)) continue;
    ov("task", "create", title, "--id", task);
    ov("sling", task, "--capability", "builder", "--name", builder, "--files", files.join(","), "--allow-overlap");
  }
  const merges = ov("merge", "list", "--all").entries ?? [];
  for (const feature of mine) handOver(feature, known.get(feature.builder), merges);
  const open = mine.filter(({ task }) => ov("task", "show", task).task.status !== "closed");
  if (open.length === 0) ov("done", "--summary", "everything has landed");
}

function handOver({ builder, task, reviewed }, agent, merges) {
  if (agent === undefined || agent.state !== "completed") return;
  const branch = "overstory/" + builder + "/" + task;
  const head = git("rev-parse", branch);
  const queued = merges.filter((entry) => (entry.branchName ?? entry.branch) === branch).at(-1);
  if (queued !== undefined && (queued.headCommit === head || queued.headCommit === "") && !["failed", "conflict"].includes(queued.status)) return;
  if (reviewed) {
    const reviewer = "rev-" + task + "-" + agent.generation;
    const seen = known.get(reviewer);
    if (seen === undefined) {
      ov("sling", task, "--capability", "reviewer", "--name", reviewer);
      return;
    }
    if (!hasEnded(seen)) return;
  }
  ov("mail", "send", "--to", "coordinator", "--type", "merge_ready", "--subject", branch, "--body", "verified", "--payload", JSON.stringify({ branch }), "--dedupe-key", branch + head);
}

next();
`;

const builder = `import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { features, git, me } from "./common.mjs";

const { first, second } = features.find((feature) => feature.builder === me);
const own = Number(git("rev-list", "--count", "HEAD", "^" + process.argv[2]));
const change = own === 0 ? first : second;
git("checkout", "--quiet", "--", ".");
for (const [file, text] of Object.entries(change.write ?? {})) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
for (const [file, text] of Object.entries(change.append ?? {})) appendFileSync(file, text);
for (const { file, from, to } of change.replace ?? []) writeFileSync(file, readFileSync(file, "utf8").replace(from, () => to));
execFileSync("git", ["add", "-A"]);
execFileSync("git", ["-c", "user.name=" + me, "-c", "user.email=" + me + "@example.invalid", "commit", "--quiet", "--allow-empty", "-m", change.commit]);
console.log(change.commit);
`;

const reviewer = `import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { average } = await import(pathToFileURL(join(process.cwd(), "src", "ledger.js")).href);
const sound = Number.isFinite(average([]));
const words = sound
  ? ["--verdict", "pass", "--summary", "average holds for every list"]
  : ["--verdict", "fail", "--summary", "average of nothing is not a number", "--findings", "src/ledger.js: average([]) divides by zero"];
execFileSync("ov", ["done", ...words], { stdio: "inherit" });
`;

/** The files of the parts, by name. */
const partFiles: Readonly<Record<string, string>> = {
  "common.mjs": common,
  "coordinator.mjs": coordinator,
  "lead.mjs": lead,
  "builder.mjs": builder,
  "reviewer.mjs": reviewer,
};

/** The throwaway project of the demonstration: a small real program with tests that a person could have written. */
const demoFiles: Readonly<Record<string, string>> = {
  "README.md": `# tally

Adds up what a household spends. Amounts are whole cents.

Run the tests with \`npm test\`.
`,
  "package.json": `{
  "name": "tally",
  "private": true,
  "type": "module",
  "scripts": {
    "test": "node --test test/*.test.js"
  }
}
`,
  ".gitignore": "node_modules/\n",
  "src/money.js": `/** Cents as people write them. */
export function format(cents) {
  return (cents / 100).toFixed(2);
}

/** What people write as cents. */
export function parse(text) {
  return Math.round(Number(text) * 100);
}
`,
  "src/ledger.js": `import { format } from "./money.js";

/** The sum of all entries, in cents. */
export function total(entries) {
  return entries.reduce((sum, entry) => sum + entry.cents, 0);
}

/** One line for the end of the month. */
export function report(entries) {
  return \`\${entries.length} entries, \${format(total(entries))}\`;
}
`,
  "test/money.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { format, parse } from "../src/money.js";

test("cents have two digits", () => {
  assert.equal(format(5), "0.05");
  assert.equal(format(12345), "123.45");
});

test("what was formatted can be read again", () => {
  assert.equal(parse(format(12345)), 12345);
});
`,
  "test/ledger.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { report, total } from "../src/ledger.js";

const entries = [{ cents: 250 }, { cents: 1750 }];

test("a total is the sum of its entries", () => {
  assert.equal(total(entries), 2000);
});

test("a report counts and adds up", () => {
  assert.equal(report(entries), "2 entries, 20.00");
});
`,
};

/** The commands that must pass on what lands. */
const demoGate = "node --test test/*.test.js";
