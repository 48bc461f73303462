import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { browserProgram, startBrowser } from "./browser.ts";
import { type Fixture, startFixture } from "./fixture-server.ts";
import { seriousFindings } from "./live-page.ts";
import { kept, shownPages } from "./shown-pages.ts";

const themes = ["light", "dark", "contrast-light", "contrast-dark"] as const;
const densities = ["default", "compact", "touch"] as const;
const widths = [1280, 390] as const;

/** States that stand beside each other. */
const kinds: readonly (readonly string[])[] = [
  "booting working in_turn between_turns stalled completed no_signal zombie parked budget",
  "pending merging gating merged conflict failed blocked approval cancelled superseded reverted",
  "gate_queued gate_running gate_passed gate_cached failed gate_flaky",
  "verified verified_with_gaps unverified",
  "queued claimed delivered acked dead cancelled",
].map((names) => names.split(" "));
/** The part of the ink of two drawings that only one of them has, at least. Shields differ in the mark on them. */
const leastDifference = 0.15;

/** Each drawing as a picture of its own. Runs in the page, so it is text. */
const drawings = `[...document.querySelectorAll("symbol[id^=glyph-]")].map((symbol) => {
  const copy = symbol.cloneNode(true);
  for (const part of copy.querySelectorAll("*")) {
    if (/solid/.test(part.getAttribute("class"))) part.setAttribute("style", "fill:black;stroke:none");
    if (/heavy/.test(part.getAttribute("class"))) part.setAttribute("style", "stroke-width:2.25");
  }
  const style = "fill:none;stroke:black;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round";
  return [symbol.id.slice("glyph-".length), '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="32" height="32" style="' + style + '">' + copy.innerHTML + "</svg>"];
})`;

/** How black each point of a picture is, from 0 to 1. */
const inkOf = `async (svg) => {
  const picture = new Image();
  picture.src = "data:image/svg+xml," + encodeURIComponent(svg);
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 32, height: 32 });
  const at = canvas.getContext("2d");
  at.drawImage(picture, 0, 0);
  return [...at.getImageData(0, 0, 32, 32).data].filter((_, index) => index % 4 === 3).map((alpha) => alpha / 255);
}`;

function difference(one: readonly number[], other: readonly number[]): number {
  const sum = (of: (a: number, b: number) => number): number =>
    one.reduce((all, ink, at) => all + of(ink, other[at] ?? 0), 0);
  const all = sum(Math.max);
  return all === 0 ? 0 : sum((a, b) => Math.abs(a - b)) / all;
}

if (browserProgram === undefined) console.error("SKIPPED: looks of the page, because no Chromium is here");

/** Over made-up facts, so that every state of everything is on the pages. */
describe.skipIf(browserProgram === undefined)("the looks of every page", () => {
  let server: Fixture;
  let page: Page;
  let close: () => Promise<void>;

  beforeAll(async () => {
    server = await startFixture();
    const browser = await startBrowser();
    close = browser.close;
    page = await browser.context.newPage();
    page.setDefaultTimeout(20_000);
  });
  afterAll(async () => {
    await close?.();
    server?.stop();
  });

  const open = async (address: string, width: number): Promise<void> => {
    await page.setViewportSize({ width, height: width < 640 ? 844 : 800 });
    await page.goto(server.url + address);
    await page.locator("h1").first().waitFor({ state: "attached" });
    await page.waitForTimeout(300);
  };

  // Each page in each theme and at both widths; the densities go round.
  test("axe finds nothing serious in any theme, at no density and no width", async () => {
    const found: string[] = [];
    for (const [at, name] of kept.entries()) {
      for (const [turn, width] of widths.entries()) {
        await open(shownPages[name] ?? "/", width);
        for (const [place, theme] of themes.entries()) {
          if (place % widths.length !== turn) continue;
          const density = densities[(at + place) % densities.length] ?? "default";
          // Without motion colours change at once.
          const look = JSON.stringify({ theme, density, motion: "reduced" });
          await page.evaluate(`Object.assign(document.documentElement.dataset, ${look})`);
          const serious = await seriousFindings(page);
          found.push(...serious.map((one) => `${name} ${theme} ${density} ${width}: ${one}`));
        }
      }
    }
    expect(found).toEqual([]);
  }, 300_000);

  test("who wants no motion gets none, on pages where agents are at work", async () => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const address of ["/", "/fleet", "/agents/builder-4"]) {
      await open(address, 1280);
      const moving = await page.evaluate<number>("document.getAnimations().length");
      expect([address, moving]).toEqual([address, 0]);
    }
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await open("/", 1280);
    expect(await page.evaluate<number>("document.getAnimations().length")).toBeGreaterThan(0);
  }, 60_000);

  test("in black on white no two states of one kind have the same silhouette", async () => {
    await open("/", 1280);
    const drawn = await page.evaluate<readonly (readonly [string, string])[]>(drawings);
    // Where no policy of content keeps a test from drawing.
    await page.goto("about:blank");
    const inks = new Map<string, readonly number[]>();
    for (const [name, svg] of drawn)
      inks.set(name, await page.evaluate<number[]>(`(${inkOf})(${JSON.stringify(svg)})`));
    const alike = kinds.flatMap((names) =>
      names.flatMap((one, at) =>
        names.slice(at + 1).flatMap((other) => {
          const share = difference(inks.get(one) ?? [], inks.get(other) ?? []);
          return share >= leastDifference ? [] : [`${one} and ${other}: ${share.toFixed(2)}`];
        }),
      ),
    );
    expect(alike).toEqual([]);
  }, 60_000);

  test("nothing scrolls sideways at 320 pixels, as a page that is enlarged four times", async () => {
    const wide: string[] = [];
    for (const name of kept) {
      await open(shownPages[name] ?? "/", 320);
      const width = await page.evaluate<number>("document.documentElement.scrollWidth");
      if (width > 320) wide.push(`${name}: ${width}`);
    }
    expect(wide).toEqual([]);
  }, 120_000);
});
