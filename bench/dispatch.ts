import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "../testkit/project.ts";
import { type AgentStarts, agentStarts, firstWordAt } from "./agent-starts.ts";
import { progress } from "./progress.ts";
import { median, ms, quantile, row, times, verdict } from "./stats.ts";
import { benchProject, ov, timeOf } from "./world.ts";

const samples = 60;
const mostSpawns = 40;

/** Asks once, so that it waits for ever after; every later turn is one word. */
const scenario = `
- when: { turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, Wait, --body, until told]
- do: [{ say: here }]
`;

interface Sample {
  /** Until the turn's process was on record. */
  readonly recorded: number;
  /** Until the agent's program wrote its first line. */
  readonly firstWord: number;
}

/** From a committed message to the process of the turn it started, for an agent that waits. */
export async function main(): Promise<void> {
  await using project = await benchProject({ scenario });
  await project.json("task", "create", "Wait", "--id", "T1");
  await project.json("sling", "T1", "--name", "a1");
  await untilWaiting(project);
  using starts = agentStarts(project);
  const warm: Sample[] = [];
  const cold: Sample[] = [];
  const spawns: number[] = [];
  const programs: number[] = [];
  for (let i = 0; i < samples; i++) {
    progress("dispatch", i + 1, samples);
    spawns.push(await timeOf(project, ["/bin/sh", "-c", 'exec "$@"', "sh", "/bin/true"]));
    programs.push(await bareProgram(project, i));
    await project.json("engine", "start");
    warm.push(await dispatch(project, starts, `warm ${i}`));
    await project.json("engine", "stop");
    cold.push(await dispatch(project, starts, `cold ${i}`));
  }
  report({ warm, cold, spawn: median(spawns), program: median(programs) });
}

async function dispatch(project: TestProject, starts: AgentStarts, text: string): Promise<Sample> {
  const before = starts.recorded("a1")?.turnId;
  const { id } = await project.json(
    "mail",
    "send",
    "--to",
    "a1",
    "--type",
    "question",
    "--subject",
    "Go",
    "--body",
    text,
  );
  await project.until("a turn had started", async () => starts.recorded("a1")?.turnId !== before);
  await untilWaiting(project);
  const message = await project.read((tx) => tx.messages.get(String(id)));
  const sent = message?.createdAt ?? Number.NaN;
  return { recorded: (starts.recorded("a1")?.at ?? Number.NaN) - sent, firstWord: firstWordAt(project, "a1") - sent };
}

function untilWaiting(project: TestProject): Promise<void> {
  return project.until("the agent waited", async () => {
    const agent = await project.read((tx) => tx.agents.byName("a1"));
    return agent?.state === "between_turns" && (await project.read((tx) => tx.turns.running())).length === 0;
  });
}

/** The same shell and program with nothing of ours around it, until its first line. */
async function bareProgram(project: TestProject, round: number): Promise<number> {
  const name = `bare-${round}`;
  mkdirSync(join(project.state, name), { recursive: true });
  const flags = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  const started = Date.now();
  const child = Bun.spawn({
    cmd: ["/bin/sh", "-c", 'exec "$@"', "sh", ov, "scripted-agent", ...flags],
    cwd: project.root,
    env: { ...project.env, OVERSTORY_AGENT_NAME: name },
    stdio: ["ignore", "ignore", "ignore"],
  });
  await child.exited;
  return firstWordAt(project, name) - started;
}

function report(found: { warm: Sample[]; cold: Sample[]; spawn: number; program: number }): void {
  const { spawn, program } = found;
  console.log(row("floor", "median"));
  console.log(row("sh -c 'exec /bin/true'", ms(spawn)));
  console.log(row("sh + agent program to its first line", ms(program)));
  console.log(row("\nmail committed to", "median", "p99", "x spawn", `<= ${mostSpawns}`));
  for (const [name, list] of [
    ["engine up", found.warm],
    ["no engine", found.cold],
  ] as const) {
    const recorded = list.map((sample) => sample.recorded);
    const ratio = median(recorded) / spawn;
    const cells = [ms(median(recorded)), ms(quantile(recorded, 0.99)), times(ratio), verdict(ratio, mostSpawns)];
    console.log(row(`turn process running, ${name}`, ...cells));
    const words = list.map((sample) => sample.firstWord);
    console.log(
      row(`its first line, ${name}`, ms(median(words)), ms(quantile(words, 0.99)), times(median(words) / program)),
    );
  }
}
