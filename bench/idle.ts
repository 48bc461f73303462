import { readIdentity } from "../src/host/engine-contact/keeper.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { aDelivery, aMessage } from "../testkit/contracts/store/rows.ts";
import { fillStore } from "../testkit/mail-seed.ts";
import type { TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";
import { activeRun, storedAgent } from "../testkit/use-case.ts";
import { fillWithHistory } from "./fill.ts";
import { childrenOf, cpuMs } from "./process-cost.ts";
import { progress } from "./progress.ts";
import { row, verdict } from "./stats.ts";
import { benchProject } from "./world.ts";

const agents = 100;
const messages = 1_000_000;
const watchedSeconds = 60;
const mostCpuPercent = 0.5;

/** What an engine costs that has nothing to do: a hundred agents wait, a million messages are past. */
export async function main(): Promise<void> {
  process.stderr.write(`preparing ${messages} messages\n`);
  await using project = await benchProject({ env: { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" } });
  await project.json("task", "create", "Anything");
  fillWithHistory(project.root, messages);
  await seatWaitingAgents(project);
  await project.json("engine", "start");
  const pid = enginePid(project);
  await Bun.sleep(2_000);
  const before = cpuMs(pid);
  let children = 0;
  for (let second = 1; second <= watchedSeconds; second++) {
    await Bun.sleep(1_000);
    children = Math.max(children, childrenOf(pid));
    progress("idle, seconds", second, watchedSeconds);
  }
  const percent = (cpuMs(pid) - before) / (watchedSeconds * 10);
  console.log(row("engine with nothing to do", "measured", "limit", ""));
  console.log(
    row(
      `CPU over ${watchedSeconds} s`,
      `${percent.toFixed(3)} %`,
      `${mostCpuPercent} %`,
      verdict(percent, mostCpuPercent),
    ),
  );
  console.log(row("child processes", String(children), "0", verdict(children, 0)));
  await project.json("engine", "stop");
  console.log(row("leaves by itself", (await leavesByItself(project)) ? "yes" : "NO"));
}

async function seatWaitingAgents({ root }: TestProject): Promise<void> {
  const now = Date.now();
  await fillStore(root, async (tx) => {
    await tx.runs.insert(activeRun("run-idle", now));
    for (let i = 0; i < agents; i++) {
      const name = `waiting-${i}`;
      const facts = {
        runId: "run-idle",
        worktreePath: `${root}/.overstory/worktrees/${name}`,
        branch: `overstory/${name}/T`,
      };
      await tx.agents.reserve(storedAgent(name, { ...facts, startedAt: now, lastActivityAt: now }));
      // A question that nobody could answer any more would be over, and the agent would be given a turn.
      const question = { runId: "run-idle", fromAgent: name, address: "operator", type: "question" } as const;
      const seq = await tx.messages.insert(aMessage(`msg-${i}`, { ...question, createdAt: now }));
      await tx.deliveries.insert([aDelivery(seq, "operator")]);
      await tx.waits.add({ agentName: name, kind: "reply", ref: `msg-${i}`, since: now, deadline: null });
    }
  });
}

/** The same store, an engine that may leave after half a second. */
async function leavesByItself(project: TestProject): Promise<boolean> {
  const started = await project.ovWith({ env: { OVERSTORY__ENGINE__IDLE_EXIT_MS: "500" } }, "engine", "start");
  if (started.code !== 0) throw new Error(started.err);
  const engine = readIdentity(statePath(project.root, "run", "engine.json"));
  for (let waited = 0; waited < 10_000; waited += 100) {
    if ((engine === undefined || linuxProcesses.check(engine) === "gone") && project.processes().length === 0)
      return true;
    await Bun.sleep(100);
  }
  return false;
}

function enginePid({ root }: TestProject): number {
  const engine = readIdentity(statePath(root, "run", "engine.json"));
  if (engine === undefined) throw new Error("the engine is not there");
  return engine.pid;
}
