import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { startBrowser } from "./browser.ts";
import { startFixture } from "./fixture-server.ts";

/**
 * `npm run ui:shots`: one picture of every page in both themes and on a phone, into `docs/ui/`. With a folder of its own, all
 * forms of the pages; with names behind it, only those that begin so.
 */

const target = process.argv[2] ?? resolve(import.meta.dir, "../../docs/ui");
const pages: Readonly<Record<string, string>> = {
  overview: "/",
  "overview-since": `/?since=${new Date(Date.now() - 82 * 60_000).toISOString()}`,
  fleet: "/fleet",
  "fleet-table": "/fleet?view=table",
  "fleet-graph": "/fleet?view=graph",
  merge: "/merge",
  "merge-history": "/merge?view=history",
  "merge-radar": "/merge?view=radar",
  "merge-conflicts": "/merge/29",
  "merge-gates": "/merge/27",
  "merge-peek": "/merge?peek=merge:31",
  review: "/review",
  "review-one": "/review/builder-10",
  "review-unified": "/review/builder-10?mode=unified&file=src/clock.ts",
  "agent-changes": "/agents/builder-4?tab=changes",
  "agent-files": "/agents/builder-4?tab=files",
  "agent-cost": "/agents/builder-4?tab=cost",
  "agent-transcript": "/agents/builder-4?tab=transcript",
  mail: "/mail?box=all&thread=m1",
  "mail-list": "/mail?box=all",
  "mail-dead": "/mail?box=dead&thread=m4",
  "mail-compose": "/mail?compose=builder-2",
  coordinator: "/coordinator",
  tasks: "/tasks",
  "tasks-list": "/tasks?group=none&peek=task:auth.1",
  "fleet-peek": "/fleet?peek=agent:builder-4&sel=builder-2,builder-5",
  costs: "/costs",
  "costs-budgets": "/costs?view=budgets&raise=agent:usd:builder-6",
  runs: "/runs?sel=run-1,run-0",
  run: "/runs/run-1",
  "run-path": "/runs/run-1?path=shown",
  "run-table": "/runs/run-1?view=table",
  "run-replay": `/runs/run-1?t=${Date.now() - 30 * 60_000}`,
  "runs-compare": "/runs/compare?a=run-0&b=run-1",
  health: "/health?check=worktree-without-agent:x",
  "health-services": "/health?tab=services",
  "health-audit": "/health?tab=audit",
  settings: "/settings/appearance",
  "settings-merge": "/settings/merge",
  "settings-tokens": "/settings/tokens",
};
const forms = [
  { name: "light", theme: "light", width: 1280, height: 800 },
  { name: "dark", theme: "dark", width: 1280, height: 800 },
  { name: "phone", theme: "light", width: 390, height: 844 },
];

/** The pictures that are kept in the repository. */
const kept = [
  ...["overview", "fleet", "fleet-graph", "agent-changes", "merge", "merge-conflicts", "review-one", "coordinator"],
  ...["mail", "tasks", "runs", "run", "costs", "health", "settings-merge"],
];
const wanted = process.argv.slice(3);
const isWanted = (name: string): boolean =>
  process.argv[2] === undefined
    ? kept.includes(name)
    : wanted.length === 0 || wanted.some((each) => name.startsWith(each));

mkdirSync(target, { recursive: true });
const server = await startFixture();
const { context, close } = await startBrowser();
const page = await context.newPage();
page.on("console", (message) => message.type() === "error" && console.error("console:", message.text()));
page.on("pageerror", (error) => console.error("page:", error.message));
for (const { name: form, theme, width, height } of forms) {
  await page.setViewportSize({ width, height });
  for (const [name, path] of Object.entries(pages)) {
    if (!isWanted(name)) continue;
    await page.goto(server.url);
    await page.evaluate(
      (settings) => localStorage.setItem("overstory.settings", settings),
      JSON.stringify({ theme, density: form === "phone" ? "touch" : "default" }),
    );
    await page.goto(server.url + path);
    await page.waitForSelector("h1");
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(target, `${name}-${form}.png`) });
  }
}
await close();
server.stop();
