import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TeamPlan, Trouble } from "./plan.ts";

/**
 * What the scripted agents of a large team decide with. Each is a small program that looks at how things stand and does
 * the next thing, so that it may be killed anywhere and woken any number of times.
 */

const common = `import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export const me = process.env.OVERSTORY_AGENT_NAME;
export const { works } = JSON.parse(readFileSync(new URL("./plan.json", import.meta.url), "utf8"));
export const branchOf = ({ builder, task }) => "overstory/" + builder + "/" + task;

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
`;

const coordinator = `import { agents, ov, works } from "./common.mjs";

const known = agents();
for (const lead of new Set(works.map((work) => work.lead))) {
  if (known.has(lead)) continue;
  ov("task", "create", "Everything of " + lead, "--id", "task-" + lead);
  ov("sling", "task-" + lead, "--capability", "lead", "--name", lead);
}
let end = ov("run", "complete");
if (end.details?.tasks?.length === 0 && end.details.agents.length === 0) {
  const { change } = works.find((work) => work.change.kind === "write");
  for (const number of end.details.criteria) ov("run", "criteria", "prove", String(number), "--file", change.file);
  end = ov("run", "complete");
}
console.log(end.success ? "complete" : "there is still work");
`;

const lead = `import { agents, branchOf, git, me, ov, works } from "./common.mjs";

const mine = works.filter((work) => work.lead === me);
const known = agents();
for (const { builder, task, change } of mine) {
  if (known.has(builder)) continue;
  ov("task", "create", "Change " + change.file, "--id", task);
  ov("sling", task, "--name", builder, "--files", change.file, "--allow-overlap");
}
const queued = new Set((ov("merge", "list", "--all").entries ?? []).map((entry) => entry.branchName ?? entry.branch));
for (const work of mine) handOver(work);
const tasks = new Map(ov("task", "list", "--all").tasks.map((task) => [task.id, task.status]));
if (mine.every(({ task }) => tasks.get(task) === "closed")) ov("done", "--summary", "everything has landed");

function handOver(work) {
  const branch = branchOf(work);
  if (known.get(work.builder)?.state !== "completed" || queued.has(branch)) return;
  const reviewer = "review-" + work.builder;
  const seen = known.get(reviewer);
  if (work.reviewed && seen === undefined) {
    ov("task", "create", "Review " + branch, "--id", "task-" + reviewer);
    ov("sling", "task-" + reviewer, "--capability", "reviewer", "--name", reviewer);
    return;
  }
  if (work.reviewed && seen.state !== "completed") return;
  const words = ["--type", "merge_ready", "--subject", branch, "--body", "verified", "--payload", JSON.stringify({ branch })];
  ov("mail", "send", "--to", "coordinator", ...words, "--dedupe-key", branch + git("rev-parse", branch));
}
`;

const builder = `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { git, me, works } from "./common.mjs";

const { change } = works.find((work) => work.builder === me);
if (git("log", "--format=%s", "-1") !== "Work of " + me) {
  git("reset", "--quiet", "--hard");
  git("clean", "--quiet", "-fd", "--", "src", "data");
  mkdirSync(dirname(change.file), { recursive: true });
  if (change.kind === "write") writeFileSync(change.file, change.text);
  if (change.kind === "append") appendFileSync(change.file, change.text);
  if (change.kind === "set") {
    const document = { ...JSON.parse(readFileSync(change.file, "utf8")), [change.key]: change.value };
    writeFileSync(change.file, JSON.stringify(document, null, 2) + "\\n");
  }
  git("add", "--", change.file);
  git("commit", "--quiet", "-m", "Work of " + me);
}
console.log("committed");
`;

const programs: Readonly<Record<string, string>> = {
  "common.mjs": common,
  "coordinator.mjs": coordinator,
  "lead.mjs": lead,
  "builder.mjs": builder,
};

/** Puts the programs where the scenario looks for them. */
export function writeBrains(home: string, plan: TeamPlan): void {
  const dir = join(home, "brains");
  mkdirSync(dir, { recursive: true });
  const files = { ...programs, "plan.json": JSON.stringify(plan) };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
}

/** The scenario of the team; its programs are below the home of the project. */
export function teamScenario(plan: TeamPlan): string {
  const parts: Readonly<Record<string, readonly object[]>> = {
    coordinator: [brain("coordinator")],
    lead: [brain("lead")],
    builder: [brain("builder"), { ov: ["done", "--summary", `${value("task")} is done`] }],
    reviewer: [{ shell: `ov done --verdict pass --summary fine --branch "${reviewedBranch}"` }],
  };
  const capabilityOf = (agent: string): string => /^(lead|review)-/.exec(agent)?.[1] ?? "builder";
  const partOf = (agent: string): readonly object[] => parts[capabilityOf(agent)] ?? parts.reviewer ?? [];
  return JSON.stringify([
    ...plan.troubles.map((trouble) => ({
      when: { agent: trouble.agent, turn: trouble.turn },
      do: stepsOf(trouble, partOf(trouble.agent)),
    })),
    ...Object.entries(parts).map(([capability, steps]) => ({ when: { capability }, do: steps })),
  ]);
}

const value = (name: string): string => ["$", `{${name}}`].join("");
const brain = (name: string): object => ({ shell: `node "$HOME/brains/${name}.mjs"` });
/** `review-x` reviews the branch of `x`, whose task is `task-x`. */
const reviewedBranch = '$(echo "$OVERSTORY_AGENT_NAME" | sed "s|^review-\\(.*\\)|overstory/\\1/task-\\1|")';

function stepsOf(trouble: Trouble, part: readonly object[]): readonly object[] {
  if (trouble.kind === "rate-limit") return [{ rateLimit: { resetInMs: trouble.resetInMs } }];
  const kill = { kill: "SIGKILL" };
  switch (trouble.when) {
    case "before":
      return [{ say: "I begin." }, kill];
    case "half":
      return [{ edit: { file: "src/half.js", write: "export const half =" } }, kill];
    case "after":
      return [...part.slice(0, 1), kill];
  }
}
