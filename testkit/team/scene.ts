import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "../project.ts";

/** One builder's part of a scene, and the trouble that it makes. */
export interface Part {
  readonly task: string;
  readonly builder: string;
  readonly criteria: readonly number[];
  readonly file: string;
  readonly text: string;
  /** The first version of the file. It passes the gates, and a reader sees that it is wrong. */
  readonly bug?: string;
  /** The builder ends its first turn with a commit and without a finish. */
  readonly silent?: boolean;
  /** The builder asks the operator this question first, and writes the answer into its file. */
  readonly asks?: string;
  /** The builder waits in its first turn until this file is in its home. */
  readonly until?: string;
}

/** One lead's work stream. */
export interface Stream {
  readonly task: string;
  readonly lead: string;
  readonly criteria: readonly number[];
  readonly blockedBy?: string;
  /** The lead tries to finish before it has done anything. */
  readonly lazy?: boolean;
  readonly parts: readonly Part[];
}

export interface Scene {
  readonly objective: string;
  readonly criteria: readonly string[];
  /** The file that proves each criterion, by its number. */
  readonly proofs: Readonly<Record<number, string>>;
  readonly streams: readonly Stream[];
  /** Built only after the run could not be completed without it. */
  readonly forgotten: Part;
  /** The file to which every part adds its line. */
  readonly shared: string;
  /** What the coordinator drops when it reads these words of the operator. */
  readonly change?: { readonly words: string; readonly task: string };
}

/** One turn, as its agent saw it: the prompt, and everything it changed by it. */
export interface PlayedTurn {
  readonly agent: string;
  readonly prompt: string;
  readonly acts: readonly string[];
  /** Refused attempts, each with the refusal. */
  readonly refused: readonly string[];
}

const common = `import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const me = process.env.OVERSTORY_AGENT_NAME;
export const home = process.env.HOME;
export const scene = JSON.parse(readFileSync(new URL("./scene.json", import.meta.url), "utf8"));
export const branchOf = ({ builder, task }) => "overstory/" + builder + "/" + task;

const inputs = readFileSync(join(process.env.OVERSTORY_SCENARIO_STATE, me, "inputs.ndjson"), "utf8").trim().split("\\n");
export const turn = inputs.length;
export const prompt = JSON.parse(inputs.at(-1)).text;

const acts = [];
const refused = [];
process.on("exit", () => {
  appendFileSync(join(home, "turns.ndjson"), JSON.stringify({ agent: me, prompt, acts, refused }) + "\\n");
});

const document = (words) => {
  try {
    return JSON.parse(execFileSync("ov", [...words, "--json"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
  } catch (error) {
    return JSON.parse(error.stdout);
  }
};

/** Reads something. */
export const look = (...words) => document(words);

/** Changes something, and notes whether it was accepted. */
export function act(...words) {
  const answer = document(words);
  const name = words.slice(0, 2).join(" ").replace(/ --.*/, "");
  if (answer.success) acts.push(name);
  else refused.push(name + ": " + (answer.error?.message ?? answer.error));
  return answer;
}

/** An agent that gets a question for somebody else has to pass it on: a turn without a decision of its own. */
export function passOn() {
  if (/^type: (question|decision_gate|merge_ready)$/m.test(prompt)) acts.push("relay");
}

export const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);

export const git = (...words) => execFileSync("git", words, { encoding: "utf8" }).trim();

export function commit(files, subject) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(file) || ".", { recursive: true });
    writeFileSync(file, text);
  }
  git("add", "--", ...Object.keys(files));
  git("commit", "--quiet", "-m", subject);
  acts.push("commit");
}

export const agents = () => new Map(look("status", "--all").agents.map((agent) => [agent.agentName ?? agent.name, agent]));
export const tasks = () => new Map(look("task", "list", "--all").tasks.map((task) => [task.id, task]));
export const once = (name) => {
  if (existsSync(join(home, name))) return false;
  writeFileSync(join(home, name), "");
  return true;
};
/** Hands a branch over for landing, once per commit. */
export function handOver(part) {
  const branch = branchOf(part);
  const commit = git("rev-parse", branch);
  if (!once("handed." + commit)) return;
  const words = ["--type", "merge_ready", "--subject", branch, "--body", "read and tried", "--payload", JSON.stringify({ branch })];
  act("mail", "send", "--to", "operator", ...words, "--dedupe-key", branch + commit);
}
`;

const coordinator = `import { act, agents, handOver, look, once, passOn, prompt, scene, tasks } from "./common.mjs";

passOn();
if (scene.change !== undefined && prompt.includes(scene.change.words) && once("changed"))
  act("task", "drop", scene.change.task, "--reason", scene.change.words);
if (once("planned")) {
  act("run", "criteria", "add", ...scene.criteria);
  for (const { task, criteria, blockedBy } of scene.streams) {
    const after = blockedBy === undefined ? [] : ["--blocked-by", blockedBy];
    act("task", "create", "Stream " + task, "--id", task, "--criteria", criteria.join(","), ...after);
  }
}
const known = agents();
const all = tasks();
for (const { task, lead, blockedBy } of scene.streams) {
  if (all.get(task)?.status === "closed" || known.has(lead)) continue;
  if (blockedBy !== undefined && all.get(blockedBy)?.status !== "closed") continue;
  act("sling", task, "--capability", "lead", "--name", lead);
}
const { forgotten } = scene;
if (prompt.includes("Done: " + forgotten.task)) handOver(forgotten);
const open = [...all.values()].filter(({ status }) => status !== "closed");
if (open.length === 0) end();

function end() {
  for (const { number, status } of look("run", "criteria").criteria)
    if (status === "open" && scene.proofs[number] !== undefined) act("run", "criteria", "prove", String(number), "--file", scene.proofs[number]);
  const answer = act("run", "complete");
  const lacking = answer.details?.criteria ?? [];
  if (answer.success || lacking.length === 0 || !once("remembered")) return;
  act("task", "create", "What was forgotten", "--id", forgotten.task, "--criteria", lacking.join(","), "--files", forgotten.file);
  act("sling", forgotten.task, "--name", forgotten.builder);
}
`;

const lead = `import { act, branchOf, handOver, look, me, passOn, prompt, scene, tasks, turn } from "./common.mjs";

passOn();
const stream = scene.streams.find(({ lead }) => lead === me);
if (stream.lazy && turn === 1) act("done", "--summary", "Everything is done");
if (turn === 1) {
  for (const { task, builder, criteria, file } of stream.parts) {
    act("task", "create", "Write " + file, "--id", task, "--criteria", criteria.join(","), "--files", file, "--shares", scene.shared);
    act("sling", task, "--name", builder);
  }
}
for (const part of stream.parts) {
  if (prompt.includes("(pass): " + branchOf(part)) || prompt.includes("Review passed: " + branchOf(part))) handOver(part);
  else if (prompt.includes("Done: " + part.task)) act("sling", part.task, "--capability", "reviewer");
}
const entries = look("merge", "list", "--all").entries ?? [];
const queued = new Set(entries.map((entry) => entry.branchName ?? entry.branch));
const all = tasks();
const handed = (part) => all.get(part.task)?.status === "closed" || queued.has(branchOf(part));
if (stream.parts.every(handed)) act("done", "--summary", "Every part is handed over");
`;

const builder = `import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { act, commit, git, home, me, pause, prompt, scene, turn } from "./common.mjs";

const part = [...scene.streams.flatMap(({ parts }) => parts), scene.forgotten].find(({ builder }) => builder === me);
const committed = git("log", "--format=%s", "-1") === "Write " + part.file;
const shared = () => readFileSync(scene.shared, "utf8");
const line = 'export * from "./' + part.builder + '.js";\\n';

if (part.asks !== undefined && turn === 1) {
  const words = ["--subject", part.asks, "--body", "I need to know", "--payload", JSON.stringify({ options: ["left", "right"], context: part.asks })];
  act("mail", "send", "--to", "operator", "--type", "decision_gate", "--expects-reply", ...words);
} else {
  if (!committed) {
    const answer = part.asks === undefined ? "" : "// " + (/\\b(left|right)\\b/.exec(prompt)?.[0] ?? "no answer") + "\\n";
    const files = { [part.file]: (part.bug ?? part.text) + answer };
    if (part !== scene.forgotten) files[scene.shared] = shared() + line;
    commit(files, "Write " + part.file);
  } else if (part.bug !== undefined && readFileSync(part.file, "utf8") === part.bug && prompt.includes(part.file)) {
    commit({ [part.file]: part.text }, "Write " + part.file);
  }
  if (part.until !== undefined && turn === 1) {
    writeFileSync(join(home, part.builder + ".waits"), "");
    while (!existsSync(join(home, part.until))) pause();
  }
  if (!(part.silent && turn === 1)) finish();
}

function finish() {
  const answer = act("done", "--summary", part.file + " is there");
  if (answer.success) return;
  const said = /Call it ([a-z]+)/.exec(JSON.stringify(answer))?.[1];
  if (said !== undefined) commit({ [part.file]: part.text + "// called " + said + "\\n" }, "Write " + part.file);
  act("done", "--summary", part.file + " is there");
}
`;

const reviewer = `import { existsSync, readFileSync } from "node:fs";
import { act, agents, me, pause, scene } from "./common.mjs";

// A model reads for longer than the coordinator needs to end the turn that asked for the review. The script is faster.
if (me.startsWith("last-review-")) while (agents().get("coordinator").state === "in_turn") pause();
const parts = [...scene.streams.flatMap(({ parts }) => parts), scene.forgotten];
const wrong = parts.filter(({ bug, file }) => bug !== undefined && existsSync(file) && readFileSync(file, "utf8") === bug);
const findings = wrong.map(({ file }) => file + ":1: error: this is not what its name says").join("\\n");
if (wrong.length > 0) act("done", "--verdict", "fail", "--summary", "wrong", "--findings", findings);
else act("done", "--verdict", "pass", "--summary", "read it all");
`;

/** Writes the programs that play the scene below the home of the project. */
export function writeScene(home: string, scene: Scene): void {
  const dir = join(home, "brains");
  mkdirSync(dir, { recursive: true });
  const programs = { common, coordinator, lead, builder, reviewer };
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(dir, `${name}.mjs`), text);
  writeFileSync(join(dir, "scene.json"), JSON.stringify(scene));
}

/** Every role plays its program. */
export const sceneScenario: string = JSON.stringify(
  ["coordinator", "lead", "builder", "reviewer"].map((capability) => ({
    when: { capability },
    do: [{ shell: `node "$HOME/brains/${capability}.mjs"` }],
  })),
);

export function playedTurns({ home }: TestProject): readonly PlayedTurn[] {
  const path = join(home, "turns.ndjson");
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line): PlayedTurn => JSON.parse(line));
}

export const partsOf = ({ streams, forgotten }: Scene): readonly Part[] => [
  ...streams.flatMap(({ parts }) => parts),
  forgotten,
];
