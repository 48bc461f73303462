import type { TestProject } from "../testkit/project.ts";
import { agentStarts, firstWordAt } from "./agent-starts.ts";
import { median, ms, row, times } from "./stats.ts";
import { benchProject } from "./world.ts";

const rounds = 12;
const modes = ["guard", "os"] as const;

/** What the sandbox adds to the start of an agent: from `ov sling` to the first word of its program, with and without it. */
export async function main(): Promise<void> {
  const scenario = "- do: [{ ov: [done, --summary, Done, --no-code] }]\n";
  const stages = await Promise.all(
    modes.map(async (mode) => ({
      mode,
      project: await benchProject({ scenario, files: 100, config: `sandbox:\n  mode: ${mode}\n` }),
      whole: [] as number[],
      spawned: [] as number[],
    })),
  );
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const { project, whole, spawned } of stages) {
        const took = await start(project, `a${round}`);
        // The first start of each also starts its engine.
        if (round === 0) continue;
        whole.push(took.whole);
        spawned.push(took.spawned);
      }
    }
    console.log(row("start of an agent", ...modes, "overhead", ""));
    const [guard, os] = stages;
    if (guard === undefined || os === undefined) return;
    for (const [name, of] of [
      ["ov sling to first word", "whole"],
      ["process on record to first word", "spawned"],
    ] as const) {
      const [without, confined] = [median(guard[of]), median(os[of])];
      console.log(row(name, ms(without), ms(confined), ms(confined - without), times(confined / without)));
    }
  } finally {
    for (const { project } of stages) await project[Symbol.asyncDispose]();
  }
}

async function start(project: TestProject, name: string): Promise<{ whole: number; spawned: number }> {
  await project.json("task", "create", name, "--id", name);
  const began = Date.now();
  await project.json("sling", name, "--name", name);
  await project.until(`${name} spoke`, async () => !Number.isNaN(firstWordAt(project, name)));
  using starts = agentStarts(project);
  const spoke = firstWordAt(project, name);
  return { whole: spoke - began, spawned: spoke - (starts.recorded(name)?.at ?? Number.NaN) };
}
