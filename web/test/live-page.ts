import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { TestProject } from "../../testkit/project.ts";
import { freePort } from "../../testkit/web.ts";
import { startBrowser } from "./browser.ts";

export interface LivePage {
  readonly page: Page;
  readonly origin: string;
  /** Errors of the page, and what its content policy refused. */
  readonly complaints: readonly string[];
  readonly close: () => Promise<void>;
}

/** The page of a real server over a live project, in a browser that has logged in. */
export async function openPage(project: TestProject): Promise<LivePage> {
  const port = String(await freePort());
  const { loginUrl } = await project.json("serve", "--detach", "--port", port);
  const { context, close } = await startBrowser();
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(String(loginUrl));
  await page.waitForSelector("[data-connection=live]");
  return { page, origin: `http://127.0.0.1:${port}`, complaints, close };
}

/** Serious findings of axe on the page as it is. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // As an extension does it: the policy of the page lets no foreign script in.
  await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  // It runs in the page, so it is text: the tests know no types of a browser.
  return page.evaluate<string[]>(`axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => location.pathname + " " + id + ": " + nodes[0].html.slice(0, 200)))`);
}

/** How wide the page is at the width of a phone, at each address. */
export async function phoneWidths(page: Page, addresses: readonly string[]): Promise<readonly number[]> {
  await page.setViewportSize({ width: 390, height: 844 });
  const widths: number[] = [];
  for (const address of addresses) {
    await page.goto(address);
    await page.locator("h1").first().waitFor({ state: "attached" });
    await page.waitForTimeout(300);
    widths.push(await page.evaluate<number>("document.documentElement.scrollWidth"));
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  return widths;
}
