import { hasEnded } from "../src/domain/agent/agent.ts";
import { pidsOf } from "../src/host/kill-points.ts";
import { inParallel } from "../testkit/parallel.ts";
import type { TestProject } from "../testkit/project.ts";
import { pssMegabytes } from "./process-cost.ts";
import { progress } from "./progress.ts";
import { median, row, verdict } from "./stats.ts";
import { benchProject } from "./world.ts";

const agents = 200;
const slingsAtOnce = 4;
const engineLimitMb = 150;
const supervisorLimitMb = 30;

/** Each thinks for a while, so that as many work at once as may. */
const scenario = `
- do:
    - sleep: 2000
    - edit: { file: "\${agent}.txt", write: "work of \${agent}\\n" }
    - commit: "work of \${agent}"
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: \${task}", --body, "\${agent}.txt is there"]
`;

interface Peaks {
  readonly engine: number[];
  readonly supervisors: number[];
  together: number;
}

/** Two hundred agents of one run, from their slings to their submitted work. */
export async function main(): Promise<void> {
  await using project = await benchProject({ scenario, files: 100 });
  await project.json("task", "create", "Anything");
  const peaks: Peaks = { engine: [], supervisors: [], together: 0 };
  const started = performance.now();
  const slings = slingAll(project);
  let submitted = 0;
  while (submitted < agents) {
    await Bun.sleep(250);
    sample(project, peaks);
    const all = await project.read((tx) => tx.agents.list({}));
    const dead = all.filter((agent) => agent.state === "zombie" || (hasEnded(agent) && agent.outcome !== "done"));
    if (dead.length > 0) throw new Error(`${dead.length} agents failed: ${JSON.stringify(dead[0])}`);
    submitted = all.filter(hasEnded).length;
    progress("fleet, submitted", submitted, agents);
  }
  await slings;
  report((performance.now() - started) / 1000, peaks);
}

async function slingAll(project: TestProject): Promise<void> {
  const names = Array.from({ length: agents }, (_, i) => `a${i}`);
  await inParallel(names, slingsAtOnce, (name) => project.json("sling", name, "--name", name, "--skip-task-check"));
}

function sample({ root }: TestProject, peaks: Peaks): void {
  const sizes = (part: string): number[] =>
    pidsOf(part, root)
      .map(pssMegabytes)
      .filter((size) => size !== undefined);
  peaks.engine.push(...sizes("engine"));
  const supervisors = sizes("supervisor");
  peaks.supervisors.push(...supervisors);
  peaks.together = Math.max(peaks.together, supervisors.length);
}

function report(seconds: number, { engine, supervisors, together }: Peaks): void {
  const megabytes = (value: number): string => `${value.toFixed(1)} MB`;
  console.log(
    row(
      `${agents} agents submitted, 0 failed`,
      `${seconds.toFixed(1)} s`,
      `${((seconds * 1000) / agents).toFixed(0)} ms each`,
    ),
  );
  console.log(row(`PSS, at most ${together} supervisors at once`, "median", "largest", "limit", ""));
  for (const [name, sizes, limit] of [
    ["engine", engine, engineLimitMb],
    ["supervisor", supervisors, supervisorLimitMb],
  ] as const) {
    const largest = Math.max(...sizes);
    console.log(row(name, megabytes(median(sizes)), megabytes(largest), megabytes(limit), verdict(largest, limit)));
  }
}
