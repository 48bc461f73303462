import { Database } from "bun:sqlite";
import { allProcesses } from "../src/host/linux/process-table.ts";
import { statePath } from "../testkit/state.ts";
import { fillWithFleet } from "./fill.ts";
import { cpuMs, pssMegabytes } from "./process-cost.ts";
import { row, verdict } from "./stats.ts";
import { benchProject, ov } from "./world.ts";

const agents = 500;
const eventsPerSecond = 1_000;
const seconds = 20;
const limitPercent = 10;

/** What the dashboard costs while a large fleet is busy: processor time of `ov dashboard` while events are written. */
export async function main(): Promise<void> {
  await using project = await benchProject();
  await project.json("task", "create", "Anything");
  fillWithFleet(project.root, agents);
  // A terminal that nobody looks at: what is drawn goes to a pipe that is read.
  const child = Bun.spawn({
    cmd: ["script", "--quiet", "--command", `stty cols 120 rows 40; exec ${ov} dashboard`, "/dev/null"],
    cwd: project.root,
    env: { ...project.env, TERM: "xterm-256color" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let drawn = 0;
  const read = (async () => {
    for await (const bytes of child.stdout) drawn += bytes.length;
  })();
  try {
    const pid = await dashboardBelow(child.pid);
    await writeEvents(project.root, 3);
    const [before, drawnBefore] = [cpuMs(pid), drawn];
    const took = await writeEvents(project.root, seconds);
    const percent = ((cpuMs(pid) - before) / took) * 100;
    console.log(row(`${agents} agents, ${eventsPerSecond} events a second`, "of a core", "limit", ""));
    console.log(
      row("ov dashboard", `${percent.toFixed(1)} %`, `${limitPercent} %`, verdict(percent, limitPercent)),
      `  ${((drawn - drawnBefore) / took).toFixed(1)} kB/s drawn, ${pssMegabytes(pid)?.toFixed(0)} MB`,
    );
  } finally {
    child.stdin.write("q");
    await child.stdin.flush();
    await Promise.race([child.exited, Bun.sleep(2_000)]);
    child.kill();
    await read;
  }
}

/** The process of the dashboard, below the terminal that runs it. */
async function dashboardBelow(terminal: number): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const below = allProcesses().filter(({ parent }) => parent === terminal);
    const found = below[0] ?? undefined;
    if (found !== undefined && tries > 10) return found.pid;
    await Bun.sleep(100);
  }
  throw new Error("the dashboard did not start");
}

/** Writes events at the rate, in ten pieces a second; answers how many milliseconds that took. */
async function writeEvents(root: string, during: number): Promise<number> {
  using db = new Database(statePath(root, "overstory.db"));
  db.run("PRAGMA busy_timeout = 5000");
  db.run("PRAGMA synchronous = NORMAL");
  const began = performance.now();
  const insert = db.prepare(
    `INSERT INTO events (run_id, agent_name, source, level, type, data, created_at)
     VALUES ('run-bench', ?, 'agent', 'info', 'tool_start', '{"tool":"Bash","summary":"npm test"}', ?)`,
  );
  const piece = db.transaction((from: number) => {
    for (let n = 0; n < eventsPerSecond / 10; n++) insert.run(`builder-${(from + n) % agents}`, Date.now());
  });
  for (let tenth = 0; tenth < during * 10; tenth++) {
    piece(tenth);
    await Bun.sleep(Math.max(0, began + (tenth + 1) * 100 - performance.now()));
  }
  return performance.now() - began;
}
