import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { browserProgram, startBrowser } from "./browser.ts";
import { startFixture } from "./fixture-server.ts";
import { diffOf, longDiff } from "./fixtures/reviews.ts";

/**
 * The design asks for 500 ms and 50 frames a second, which is 20 ms for a frame. Machines that test are busy with other
 * things, so the time is counted that the page itself computed, and the limits are loose. What a person waits is printed.
 */
const most = { openCpuMs: 1_500, frameCpuMs: 40, nodes: 4_000 };

/** Scrolls by wheels' worth for two seconds, and answers how many frames were drawn in one second. */
const scrolled = `new Promise((resolve) => {
  const pane = document.querySelector("section[aria-label=Changes]");
  const began = performance.now();
  let frames = 0;
  const step = () => {
    frames++;
    pane.scrollTop += 120;
    const past = performance.now() - began;
    if (past < 2000) requestAnimationFrame(step);
    else resolve({ frames, perSecond: Math.round((frames * 1000) / past) });
  };
  requestAnimationFrame(step);
})`;

async function measured(page: Page, url: string) {
  await page.goto(`${url}/agents/builder-4?tab=facts`);
  await page.locator("h1").waitFor();
  // The chunk of the diff is loaded before: what counts is the diff.
  await page.keyboard.press("2");
  await page.locator("section[aria-label=Changes] code").first().waitFor();
  await page.goto(`${url}/agents/builder-5?tab=facts`);
  await page.locator("h1").waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const cpuMs = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000;
  };
  const before = await cpuMs();
  const openMs = await page.evaluate<number>(`new Promise((resolve) => {
    const began = performance.now();
    const look = () => {
      const isThere = document.querySelector("section[aria-label=Changes]")?.textContent.includes("module-0/part.ts");
      if (isThere) resolve(performance.now() - began);
      else requestAnimationFrame(look);
    };
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "2", bubbles: true }));
    look();
  })`);
  const opened = await cpuMs();
  const { frames, perSecond } = await page.evaluate<{ frames: number; perSecond: number }>(scrolled);
  const frameCpuMs = ((await cpuMs()) - opened) / frames;
  const nodes = await page.evaluate<number>("document.querySelectorAll('*').length");
  return { openMs: Math.round(openMs), openCpuMs: Math.round(opened - before), perSecond, frameCpuMs, nodes };
}

test.skipIf(browserProgram === undefined)(
  "a diff with 20,000 changed lines opens and scrolls quickly, with few nodes on the page",
  async () => {
    const server = await startFixture({ "/api/agents/builder-5/diff": diffOf("builder-5", longDiff(20_000)) });
    const { context, close } = await startBrowser();
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      const found = await measured(page, server.url);
      const { openMs, openCpuMs, perSecond, frameCpuMs, nodes } = found;
      console.log(
        `diff of 20,000 lines: open in ${openMs} ms (${openCpuMs} ms computing), ${perSecond} frames/s (${frameCpuMs.toFixed(1)} ms computing each), ${nodes} nodes`,
      );
      expect(found.openCpuMs).toBeLessThan(most.openCpuMs);
      expect(found.frameCpuMs).toBeLessThan(most.frameCpuMs);
      expect(found.nodes).toBeLessThan(most.nodes);
      // The last file can be reached, and its rows are where they belong.
      await page.evaluate("document.querySelector(\"nav[aria-label='Changed files']\").scrollTo(0, 1e6)");
      await page.getByRole("button", { name: /module-39/ }).click();
      await page.locator("section[aria-label=Changes] header", { hasText: "module-39" }).waitFor();
    } finally {
      await close();
      server.stop();
    }
  },
  60_000,
);
