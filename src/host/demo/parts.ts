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
for (const lead of new Set(features.map((feature) => feature.lead))) {
  if (known.has(lead)) continue;
  const task = lead.replace("lead-", "");
  const titles = features.filter((feature) => feature.lead === lead).map((feature) => feature.title);
  ov("task", "create", titles.join(", "), "--id", task);
  ov("sling", task, "--capability", "lead", "--name", lead);
}
const end = ov("run", "complete");
console.log(end.success ? "the run is complete" : "there is still work; I wait");
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
export const partFiles: Readonly<Record<string, string>> = {
  "common.mjs": common,
  "coordinator.mjs": coordinator,
  "lead.mjs": lead,
  "builder.mjs": builder,
  "reviewer.mjs": reviewer,
};
