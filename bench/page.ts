import type { Page } from "playwright-core";
import { startBrowser } from "../web/test/browser.ts";
import { type Fixture, startFixture } from "../web/test/fixture-server.ts";
import { agents } from "../web/test/fixtures/fleet.ts";

/** `npm run bench -- page`: how many frames a second the fleet draws with 500 agents while changes of them arrive. */

const fleetSize = 500;
const changesPerSecond = 200;
const tickMs = 50;
const leastFrames = 30;
const longestTaskMs = 100;

interface Drawn {
  readonly perSecond: number;
  readonly longestTask: number;
}

/** Counts frames for four seconds, and the longest piece of work that held them up. */
const counted = `new Promise((resolve) => {
  let frames = 0;
  let longestTask = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTask = Math.max(longestTask, duration);
  });
  observer.observe({ type: "longtask" });
  const began = performance.now();
  const step = () => {
    frames++;
    const past = performance.now() - began;
    if (past < 4000) return requestAnimationFrame(step);
    observer.disconnect();
    resolve({ perSecond: Math.round((frames * 1000) / past), longestTask: Math.round(longestTask) });
  };
  requestAnimationFrame(step);
})`;

const fleet = Array.from({ length: fleetSize }, (_, at) => {
  const { parent: _parent, ...pattern } = agents[at % agents.length] ?? {};
  const name = at === 0 ? "coordinator" : at < 21 ? `lead-${at}` : `builder-${at}`;
  const parent = at === 0 ? null : at < 21 ? "coordinator" : `lead-${(at % 20) + 1}`;
  return { ...pattern, id: name, name, parent, state: "in_turn", condition: null, running: true, runId: "run-1" };
});

/** Says the same number of changes each second, a few of them together, as a busy engine does. */
function busy(server: Fixture): () => void {
  let at = 0;
  const timer = setInterval(() => {
    const items = Array.from({ length: (changesPerSecond * tickMs) / 1000 }, () => {
      at++;
      return {
        ...fleet[at % fleetSize],
        now: { tool: "Bash", argument: `step ${at}`, since: new Date().toISOString() },
      };
    });
    server.tell("fleet?all=true", items);
  }, tickMs);
  return () => clearInterval(timer);
}

async function drawn(page: Page, address: string, shows: string): Promise<Drawn> {
  await page.goto(address);
  await page.locator("[role=row]", { hasText: shows }).first().waitFor();
  return page.evaluate<Drawn>(counted);
}

export async function main(): Promise<void> {
  const server = await startFixture({ "/api/agents": { items: fleet } });
  const { context, close } = await startBrowser();
  try {
    const page = await context.newPage();
    const rows: [string, string][] = [
      ["tree", "/fleet"],
      ["table", "/fleet?view=table"],
    ];
    console.log(`${`${fleetSize} agents, ${changesPerSecond} changes/s`.padEnd(40)} frames/s  longest task`);
    for (const [name, path] of rows) {
      const still = await drawn(page, server.url + path, "lead-");
      const rest = busy(server);
      // What is counted is of use only while changes are seen to arrive.
      const moving = await drawn(page, server.url + path, "step ");
      rest();
      const verdict = moving.perSecond >= leastFrames && moving.longestTask <= longestTaskMs ? "ok" : "MISSED";
      console.log(
        `${`${name}, nothing arrives`.padEnd(40)} ${String(still.perSecond).padStart(8)}  ${still.longestTask} ms`,
      );
      const limits = `>= ${leastFrames}, <= ${longestTaskMs} ms: ${verdict}`;
      console.log(
        `${`${name}, while changes arrive`.padEnd(40)} ${String(moving.perSecond).padStart(8)}  ${moving.longestTask} ms  ${limits}`,
      );
    }
  } finally {
    await close();
    server.stop();
  }
}
